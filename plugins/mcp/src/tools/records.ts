import {
  EVENT_TYPES,
  Evaluation,
  EventRecord,
  ListedCheckpoint,
  routes,
  strict,
  type NextActionRecord,
} from '@svc/contract';
import { Type } from 'typebox';
import { evaluateLikeBefore } from './evaluate-like-before.js';
import { PAGE_ITEMS, toPage } from './pages.js';
import { defineTool, only, pick, toAction, type ArgsOf, type Call } from './tool.js';

const Event = strict(
  pick(
    EventRecord,
    'id',
    'type',
    'severity',
    'title',
    'message',
    'run_id',
    'job_id',
    'node_id',
    'created_at',
  ),
);

export const listEvents = defineTool(
  {
    name: 'list_events',
    title: 'List events',
    description: `Events, newest first, of a run, a job, a node, a type or a severity. Types: ${EVENT_TYPES.join(', ')}.`,
    group: 'observe',
    output: {},
    list: ['events', Event],
  },
  async ({ client, signal }, args) => {
    const { limit = PAGE_ITEMS, ...filters } = args;
    const rows = await client.call(routes.listEvents, { query: { ...filters, limit }, signal });
    const { items } = rows;
    const page = { name: 'events', tool: 'list_events', args } as const;
    const telling =
      items.find(({ severity }) => severity === 'critical') ??
      items.find(({ severity }) => severity !== 'info') ??
      items[0];
    return {
      body: {},
      list: toPage(page, rows, {
        limit,
        cursorOf: ({ id }) => id,
        toItem: (event) => only(event, Event.properties),
      }),
      next_actions: telling ? afterEvent(telling) : [toAction('list_jobs', {}, 'the jobs and their states')],
    };
  },
);

function afterEvent({ run_id, job_id, node_id, type }: EventRecord): NextActionRecord[] {
  if (run_id !== null) return [toAction('diagnose_run', { run_id }, `the run of the newest ${type}`)];
  if (job_id !== null) return [toAction('get_job', { job_id }, `the job of the newest ${type}`)];
  return node_id === null ? [] : [toAction('get_node_status', { node_id }, `the node of the newest ${type}`)];
}

const Checkpoint = strict({
  ...pick(
    ListedCheckpoint,
    'id',
    'step',
    'epoch',
    'size',
    'path',
    'is_best',
    'source',
    'created_at',
    'deleted_at',
  ),
  evaluations: Type.Integer({ description: 'How many evaluations of it have SUCCEEDED.' }),
});

export const listCheckpoints = defineTool(
  {
    name: 'list_checkpoints',
    title: 'List checkpoints',
    description: 'The checkpoints of a run, newest first, the best of them marked.',
    group: 'observe',
    output: { run_id: Type.String() },
    list: ['checkpoints', Checkpoint],
  },
  async (call, args) => {
    const { client, signal } = call;
    const { run_id, limit = PAGE_ITEMS, before } = args;
    const rows = await client.call(routes.listRunCheckpoints, {
      params: { run_id },
      query: { limit, before },
      signal,
    });
    const { items } = rows;
    const page = { name: 'checkpoints', tool: 'list_checkpoints', args } as const;
    const toItem = (row: ListedCheckpoint) => ({
      ...only(row, Checkpoint.properties),
      evaluations: row.metadata.evaluations.length,
    });
    const wanted = items.find(({ is_best }) => is_best) ?? items[0];
    const open = wanted && wanted.metadata.evaluations.length === 0 ? wanted : undefined;
    return {
      body: { run_id },
      list: toPage(page, rows, { limit, cursorOf: ({ id }) => id, toItem }),
      next_actions: [
        ...(open ? await evaluateLikeBefore(call, open) : []),
        ...(wanted ? [toAction('get_best_checkpoint', { run_id }, 'the best checkpoint of the run')] : []),
        ...(items.length > 1 ? [compare(items)] : []),
        ...(wanted ? [] : [toAction('diagnose_run', { run_id }, 'how its training goes')]),
      ],
    };
  },
);

function compare(items: readonly ListedCheckpoint[]): NextActionRecord {
  return toAction(
    'compare_checkpoints',
    { ids: items.slice(0, 10).map(({ id }) => id) },
    'which of them is better',
  );
}

const EvaluationFields = pick(
  Evaluation,
  ...(['id', 'checkpoint_id', 'run_id', 'job_id', 'suite', 'dataset', 'dataset_version'] as const),
  ...(['status', 'metrics', 'runtime_s', 'error', 'created_at'] as const),
);

export const listEvaluations = defineTool(
  {
    name: 'list_evaluations',
    title: 'List evaluations',
    description: 'Evaluations of a run or of a checkpoint, newest first, with their results.',
    group: 'observe',
    output: {},
    list: ['evaluations', strict(EvaluationFields)],
  },
  async (call, args) => {
    const { client, signal } = call;
    const { limit = PAGE_ITEMS, run_id, checkpoint_id, before } = args;
    const query = { run_id, checkpoint_id, limit, before };
    const rows = await client.call(routes.listEvaluations, { query, signal });
    const { items } = rows;
    const page = { name: 'evaluations', tool: 'list_evaluations', args } as const;
    const [newest] = items;
    return {
      body: {},
      list: toPage(page, rows, {
        limit,
        cursorOf: ({ id }) => id,
        toItem: (row) => only(row, EvaluationFields),
      }),
      next_actions: newest ? afterEvaluation(newest) : await afterNoEvaluation(call, args),
    };
  },
);

async function afterNoEvaluation(
  call: Call,
  { run_id, checkpoint_id: ckpt_id }: ArgsOf<'list_evaluations'>,
): Promise<NextActionRecord[]> {
  if (run_id !== undefined) return [toAction('list_checkpoints', { run_id }, 'what could be evaluated')];
  if (ckpt_id === undefined) return [toAction('list_jobs', {}, 'the jobs and their runs')];
  const { client, signal } = call;
  const checkpoint = await client.call(routes.getCheckpoint, { params: { ckpt_id }, signal });
  return [
    ...(await evaluateLikeBefore(call, checkpoint)),
    toAction('list_checkpoints', { run_id: checkpoint.run_id }, 'the checkpoints of its run'),
  ];
}

function afterEvaluation({ status, job_id, run_id }: Evaluation): NextActionRecord[] {
  if (status === 'QUEUED')
    return [toAction('get_job', { job_id }, 'the newest of these goes on: this is its job')];
  if (status === 'FAILED') return [toAction('explain_failure', { job_id }, 'why the newest of these failed')];
  return [
    toAction('get_best_checkpoint', { run_id }, 'the best checkpoint of the run, by evaluations first'),
  ];
}
