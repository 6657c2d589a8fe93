import { JOB_STATUSES, routes, type Job } from '@svc/contract';
import { Option, type Command } from 'commander';
import { toAge, toCommandLine, toTime } from '../output/format.js';
import { print } from '../output/print.js';
import { styleOfStatus, type Paint } from '../output/style.js';
import { toFields, toTable, type Column } from '../output/table.js';
import { toAttemptLines, toRunTime } from './attempts.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { parseInteger } from './parse.js';

export function addJobCommands(program: Command): void {
  withJson(program.command('jobs'))
    .description('list jobs, newest first')
    .addOption(new Option('--status <status>', 'list only jobs with this status').choices(JOB_STATUSES))
    .option('--limit <n>', 'number of jobs to list, at most 1000', parseInteger)
    .option(
      '--before <ms>',
      'list only jobs created before this time, as next_before of the previous page gives it',
      parseInteger,
    )
    .addHelpText('after', '\nExamples:\n  svc jobs --status RUNNING\n  svc jobs --json --limit 500')
    .action(listJobs);

  withJson(program.command('job'))
    .description('show a job')
    .argument('<id>', 'job id')
    .addHelpText('after', '\nExample:\n  svc job job_01JD3Y6V6T3V5YJ6M0W3X8R2QF --json')
    .action(showJob);

  withJson(program.command('cancel'))
    .description('cancel a job: its processes get SIGTERM, and SIGKILL after the grace period')
    .argument('<id>', 'job id')
    .addHelpText('after', '\nExample:\n  svc cancel job_01JD3Y6V6T3V5YJ6M0W3X8R2QF')
    .action(cancelJob);

  withJson(program.command('retry'))
    .description('queue a job that has ended or is LOST again')
    .argument('<id>', 'job id')
    .addHelpText('after', '\nExample:\n  svc retry job_01JD3Y6V6T3V5YJ6M0W3X8R2QF')
    .action(retryJob);
}

interface ListOptions extends JsonOptions {
  readonly status?: Job['status'];
  readonly limit?: number;
  readonly before?: number;
}

async function listJobs({ status, limit, before, ...options }: ListOptions): Promise<void> {
  const page = await connect(options).call(routes.listJobs, { query: { status, limit, before } });
  print(page, options.json, ({ items, next_before }, paint) => [
    ...(items.length > 0 ? toTable(JOB_COLUMNS, items, paint) : ['no jobs']),
    ...(next_before === null ? [] : [paint('dim', `for older jobs: svc jobs --before ${next_before}`)]),
  ]);
}

const JOB_COLUMNS: readonly Column<Job>[] = [
  { title: 'ID', cell: (job) => job.id },
  { title: 'NAME', cell: (job) => job.name },
  { title: 'STATUS', cell: (job) => job.status, style: (job) => styleOfStatus(job.status) },
  { title: 'GPU', cell: (job) => (job.resources.cpu_only ? '-' : String(job.resources.gpu)), align: 'right' },
  { title: 'PRIO', cell: (job) => String(job.priority), align: 'right' },
  { title: 'ATTEMPT', cell: (job) => String(job.attempt), align: 'right' },
  { title: 'EXIT', cell: (job) => String(job.exit_code ?? '-'), align: 'right' },
  { title: 'CREATED', cell: (job) => toAge(job.created_at) },
  { title: 'NOTE', cell: (job) => job.pending_reason ?? job.failure_message ?? job.failure_reason ?? '' },
];

async function showJob(id: string, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const job = await client.call(routes.getJob, { params: { job_id: id } });
  const hasMore = job.attempt > 1 && !options.json;
  const { items: attempts } = hasMore
    ? await client.call(routes.listJobAttempts, { params: { job_id: job.id } })
    : { items: [] };
  print(job, options.json, (_, paint) => [
    ...toJobLines(job, paint),
    ...(hasMore ? ['', ...toAttemptLines(attempts, paint)] : []),
  ]);
}

function toJobLines(job: Job, paint: Paint): string[] {
  const { gpu, cpu_only } = job.resources;
  const env = Object.entries(job.env).map(([name, value]) => `${name}=${value}`);
  const optional: readonly (readonly [string, string | null])[] = [
    ['waiting', job.pending_reason],
    ['exit code', job.exit_code === null ? null : String(job.exit_code)],
    ['failure', [job.failure_reason, job.failure_message].filter(Boolean).join(': ') || null],
    ['run', job.run_id],
    ['node', job.node_id],
    ['gpu slots', job.gpu_indices.join(', ') || null],
    ['project', job.project],
    ['experiment', job.experiment],
    ['image', job.image],
    ['env', env.join(' ') || null],
    [
      'needs labels',
      Object.entries(job.node_selector)
        .map((pair) => pair.join('='))
        .join(' ') || null,
    ],
  ];
  return [
    `${paint('bold', job.name)}  ${paint(styleOfStatus(job.status), job.status)}`,
    ...toFields(
      [
        ['id', job.id],
        ['command', toCommandLine(job.command)],
        ['working dir', job.working_dir ?? "the attempt's own"],
        ['runner', job.runner],
        ['resources', cpu_only ? 'CPU only' : `${gpu} GPU`],
        ['priority', String(job.priority)],
        ['attempt', `${job.attempt} of ${job.max_attempts}`],
        ...optional.filter((field): field is [string, string] => field[1] !== null),
        ['created', toTime(job.created_at)],
        ['started', toTime(job.started_at)],
        ['finished', toTime(job.finished_at)],
        ['ran for', toRunTime(job)],
      ],
      paint,
    ),
  ];
}

async function cancelJob(id: string, options: JsonOptions): Promise<void> {
  const answer = await connect(options).call(routes.cancelJob, { params: { job_id: id } });
  print(answer, options.json, ({ job_id, result }) => [`${job_id} ${result}`]);
}

async function retryJob(id: string, options: JsonOptions): Promise<void> {
  const job = await connect(options).call(routes.retryJob, { params: { job_id: id } });
  print(job, options.json, () => [`${job.id} ${job.status}, attempt ${job.attempt}`]);
}
