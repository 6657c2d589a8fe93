import {
  newId,
  type Checkpoint,
  type Evaluation,
  type EvaluationSubmit,
  type Job,
  type JobSubmit,
  type Run,
} from '@svc/contract';
import { fail, isMissingReference, type Caller, type PluginContext } from '@svc/kernel';
import type { Checkpoints } from '@svc/plugin-checkpoints';
import type { IdempotencyKey, Jobs } from '@svc/plugin-jobs';
import type { Nodes } from '@svc/plugin-nodes';
import type { Runs } from '@svc/plugin-runs';
import { insertEvaluation, requireEvaluation } from './store.js';

const MAX_NAME_LENGTH = 200;
const SUFFIX_LENGTH = 8;
/** Selectors that name a node: whoever gives one decides where the evaluation runs. */
const NODE_LABELS = ['node', 'node_id', 'hostname'];

export interface CreateParts {
  readonly checkpoints: Checkpoints;
  readonly runs: Runs;
  readonly jobs: Jobs;
  readonly nodes: Nodes;
  /** Absolute paths that every node has. */
  readonly sharedPaths: readonly string[];
}

export interface Creation {
  readonly checkpointId: string;
  readonly body: EvaluationSubmit;
  readonly caller: Caller;
  readonly idempotency: IdempotencyKey | null;
}

export interface Created {
  readonly evaluation: Evaluation;
  readonly isRepeated: boolean;
}

/** Queues an EVALUATE job, and stores the evaluation in its transaction. */
export async function createEvaluation(
  ctx: Pick<PluginContext, 'db' | 'clock'>,
  parts: CreateParts,
  { checkpointId, body, caller, idempotency }: Creation,
): Promise<Created> {
  const checkpoint = await parts.checkpoints.require(ctx.db, checkpointId);
  const run = await parts.runs.require(ctx.db, checkpoint.run_id);
  const training = run.job_id === null ? null : await parts.jobs.get(ctx.db, run.job_id);
  const holder = await findHolder(ctx, parts, run);
  const node_selector = await toSelector(ctx, parts, { checkpoint, holder, given: body.node_selector });
  const id = newId('evaluation', ctx.clock.now());
  const { suite = null, dataset = null, dataset_version = null } = body;
  const { job, isRepeated } = await parts.jobs.submit({
    body: {
      ...toJobSubmit(body, training),
      name: toName(run, checkpoint, id),
      ...(run.project_id !== null && { project: run.project_id }),
      ...(run.experiment_id !== null && { experiment: run.experiment_id }),
      env: { ...body.env, SVC_EVAL_CHECKPOINT: checkpoint.path, SVC_EVAL_ID: id },
      node_selector,
    },
    caller,
    idempotency,
    evaluation: {
      id,
      checkpoint_id: checkpoint.id,
      preferred_node_id: holder,
      store: (tx, job_id, created_at) =>
        insertEvaluation(tx, {
          id,
          checkpoint_id: checkpoint.id,
          run_id: run.id,
          job_id,
          created_at,
          suite,
          dataset,
          dataset_version,
        }).catch((error: unknown) => {
          // It was there when the request was let in, and has been removed with its run since.
          if (isMissingReference(error)) fail('not_found', `no checkpoint "${checkpoint.id}"`);
          throw error;
        }),
    },
  });
  return { evaluation: await requireEvaluation(ctx.db, job.evaluation_id ?? id), isRepeated };
}

/** What the body leaves out is that of the training job; its environment is not taken over. */
function toJobSubmit(body: EvaluationSubmit, training: Job | null): JobSubmit {
  const { command, priority, max_attempts } = body;
  const resources = body.resources ?? training?.resources;
  const hasOwnFiles = body.working_dir !== undefined || body.snapshot !== undefined;
  const working_dir = hasOwnFiles ? body.working_dir : training?.working_dir;
  const snapshot = hasOwnFiles ? body.snapshot : training?.snapshot;
  return {
    type: 'EVALUATE',
    command,
    ...(training && { runner: training.runner, runner_options: training.runner_options }),
    ...(resources && { resources }),
    ...(priority !== undefined && { priority }),
    ...(max_attempts !== undefined && { max_attempts }),
    ...(working_dir && { working_dir }),
    ...(snapshot && { snapshot }),
  };
}

/** `eval:<run>:step<N>:<the end of the evaluation's id>`. */
function toName({ name }: Run, { step }: Checkpoint, id: string): string {
  const rest = `${step === null ? '' : `:step${step}`}:${id.slice(-SUFFIX_LENGTH)}`;
  const room = MAX_NAME_LENGTH - 'eval:'.length - rest.length;
  return `eval:${[...name].slice(0, room).join('')}${rest}`;
}

/** The node where the training ran that saved the checkpoint; null when that is not known. */
async function findHolder(
  { db }: Pick<PluginContext, 'db'>,
  { jobs }: CreateParts,
  { job_id, attempt }: Run,
): Promise<string | null> {
  if (job_id === null || attempt === null) return null;
  return (await jobs.attempt(db, { job_id, attempt }))?.node_id ?? null;
}

interface Place {
  readonly checkpoint: Checkpoint;
  readonly holder: string | null;
  readonly given: EvaluationSubmit['node_selector'];
}

/** Throws conflict when only the node that holds the checkpoint would do, and it has been removed. */
async function toSelector(
  { db }: Pick<PluginContext, 'db'>,
  { nodes, sharedPaths }: CreateParts,
  { checkpoint, holder, given = {} }: Place,
): Promise<NonNullable<JobSubmit['node_selector']>> {
  const namesNode = NODE_LABELS.some((label) => Object.hasOwn(given, label));
  const isShared = sharedPaths.some((path) => isWithin(checkpoint.path, path));
  if (holder === null || namesNode || isShared) return given;
  if ((await nodes.get(db, holder)) !== null) return { ...given, node_id: holder };
  const remedy =
    'name a node that has the file now (node_selector, as in svc evaluate --node-selector node=NAME), or add its folder to shared_paths of the plugin evaluations';
  const message = `the node that holds the checkpoint ${checkpoint.path} has been removed: ${remedy}`;
  return fail('conflict', message, { node_id: holder });
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
