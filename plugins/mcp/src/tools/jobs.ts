import { Job, isTerminal, nullable, routes, strict, type NextActionRecord } from '@svc/contract';
import { Type } from 'typebox';
import { POLL_INTERVAL_MS, afterJob } from './job-actions.js';
import { PAGE_ITEMS, toPage } from './pages.js';
import { defineTool, only, pick, toAction } from './tool.js';

const Brief = pick(
  Job,
  ...(['id', 'name', 'type', 'status', 'project', 'experiment', 'run_id', 'attempt', 'exit_code'] as const),
  ...(['failure_reason', 'pending_reason', 'created_at', 'finished_at'] as const),
);

export const listJobs = defineTool(
  {
    name: 'list_jobs',
    title: 'List jobs',
    description: 'Jobs, newest first, with their state; of one status when it is given.',
    group: 'observe',
    output: {},
    list: ['jobs', strict(Brief)],
  },
  async ({ client, signal }, args) => {
    const { limit = PAGE_ITEMS, status, before } = args;
    const rows = await client.call(routes.listJobs, { query: { limit, status, before }, signal });
    const { items } = rows;
    const failed = items.find((job) => job.status === 'FAILED');
    const [newest] = items;
    const page = { name: 'jobs', tool: 'list_jobs', args } as const;
    return {
      body: {},
      list: toPage(page, rows, {
        limit,
        cursorOf: (job) => job.created_at,
        toItem: (job) => only(job, Brief),
      }),
      next_actions: [
        ...(newest ? [toAction('get_job', { job_id: newest.id }, `the newest job, ${newest.status}`)] : []),
        ...(failed
          ? [toAction('explain_failure', { job_id: failed.id }, 'why the newest of these failed')]
          : []),
        ...(newest ? [] : [afterNone(status)]),
      ],
    };
  },
);

function afterNone(status: string | undefined): NextActionRecord {
  return status === undefined
    ? toAction('list_nodes', {}, 'the hosts that a job could run on')
    : toAction('list_jobs', {}, 'the jobs of every status');
}

const Shown = {
  ...Brief,
  ...pick(
    Job,
    ...([
      'command',
      'working_dir',
      'snapshot',
      'runner',
      'image',
      'resources',
      'priority',
      'node_selector',
    ] as const),
    ...(['max_attempts', 'failure_message', 'project_id', 'experiment_id', 'checkpoint_id'] as const),
    ...(['evaluation_id', 'node_id', 'gpu_indices', 'queued_at', 'started_at'] as const),
  ),
  env_names: Type.Array(Type.String(), {
    description: 'Of the variables it was given; values are not shown.',
  }),
  poll_interval: nullable(
    Type.Integer({ description: 'Ask again after so many milliseconds; null: the job has ended.' }),
  ),
};

export const getJob = defineTool(
  {
    name: 'get_job',
    title: 'Job',
    description: 'One job: state, why it waits or failed, command, resources, run and node.',
    group: 'observe',
    output: Shown,
  },
  async ({ client, signal }, { job_id }) => {
    const job = await client.call(routes.getJob, { params: { job_id }, signal });
    return {
      body: {
        ...only(job, Shown),
        env_names: Object.keys(job.env),
        poll_interval: isTerminal(job.status) ? null : POLL_INTERVAL_MS,
      },
      next_actions: afterJob(job),
    };
  },
);
