import {
  BestCheckpoint,
  Checkpoint,
  CheckpointComparison,
  CheckpointEntry,
  FailureExplanation,
  RunComparison,
  RunEntry,
  routes,
  strict,
  type NextActionRecord,
} from '@svc/contract';
import { evaluateLikeBefore } from './evaluate-like-before.js';
import { toWhole } from './pages.js';
import { ToolError, aboutMetric } from './tool-error.js';
import { defineTool, only, pick, toAction } from './tool.js';

async function askMetric<T>(answer: Promise<T>, look: NextActionRecord): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw aboutMetric(error, look);
  }
}

function metricsOf(run_id: string): NextActionRecord {
  return toAction('get_run_summary', { run_id }, 'the metrics that it has');
}

function definitions(args: { experiment_id?: string }): NextActionRecord {
  return toAction(
    'list_metric_definitions',
    args,
    'the metrics that are known, and which of them is primary',
  );
}

const Compared = pick(RunComparison, 'metric', 'direction', 'protocol', 'tied_ids', 'best_run_id');

export const compareRuns = defineTool(
  {
    name: 'compare_runs',
    title: 'Compare runs',
    description:
      'Ranks 2 to 50 runs by the primary metric or the one given: best is an evaluation where there is one, else of the training; latest is of the training. Name suite, dataset and dataset_version where there are several.',
    group: 'semantic',
    output: Compared,
    list: ['entries', RunEntry],
  },
  async ({ client, signal }, args) => {
    const { ids, offset: _offset, ...query } = args;
    const answer = client.call(routes.compareRuns, { query: { ids: ids.join(','), ...query }, signal });
    const found = await askMetric(answer, metricsOf(ids[0]!));
    return {
      body: only(found, Compared),
      list: toWhole({ name: 'entries', tool: 'compare_runs', args }, found.entries),
      next_actions: found.next_actions,
    };
  },
);

const ComparedCheckpoints = pick(
  CheckpointComparison,
  ...(['metric', 'direction', 'protocol', 'tied_ids', 'best_checkpoint_id'] as const),
);

export const compareCheckpoints = defineTool(
  {
    name: 'compare_checkpoints',
    title: 'Compare checkpoints',
    description:
      'Ranks 2 to 50 checkpoints by the primary metric or the one given, by their evaluations first and the training else.',
    group: 'semantic',
    output: ComparedCheckpoints,
    list: ['entries', CheckpointEntry],
  },
  async ({ client, signal }, args) => {
    const { ids, offset: _offset, ...query } = args;
    const answer = client.call(routes.compareCheckpoints, {
      query: { ids: ids.join(','), ...query },
      signal,
    });
    const found = await askMetric(answer, definitions({}));
    return {
      body: only(found, ComparedCheckpoints),
      list: toWhole({ name: 'entries', tool: 'compare_checkpoints', args }, found.entries),
      next_actions: found.next_actions,
    };
  },
);

const Best = {
  ...pick(
    BestCheckpoint,
    ...([
      'checkpoint_id',
      'run_id',
      'metric',
      'direction',
      'value',
      'step',
      'value_step',
      'source',
      'evaluation_id',
    ] as const),
    'tied_checkpoint_ids',
  ),
  checkpoint: strict(pick(Checkpoint, 'id', 'step', 'epoch', 'size', 'path', 'created_at')),
};

export const getBestCheckpoint = defineTool(
  {
    name: 'get_best_checkpoint',
    title: 'Best checkpoint',
    description:
      'The best checkpoint of a run or of an experiment by the primary metric or the one given: of those with an evaluation that has SUCCEEDED first, else by what the training logged (`source` says which).',
    group: 'semantic',
    output: Best,
  },
  async (call, args) => {
    const { run_id, experiment_id } = args;
    const look =
      run_id === undefined
        ? definitions({ ...(experiment_id !== undefined && { experiment_id }) })
        : metricsOf(run_id);
    const answer = call.client.call(routes.recommendCheckpoint, { query: args, signal: call.signal });
    const found = await askMetric(answer, look);
    const { checkpoint, source } = found;
    return {
      body: { ...only(found, Best), checkpoint: only(checkpoint, Best.checkpoint.properties) },
      next_actions: [
        ...(source === 'training_fallback' ? await evaluateLikeBefore(call, checkpoint) : []),
        ...found.next_actions,
      ],
    };
  },
);

const { next_actions: _of, ...Explanation } = FailureExplanation.properties;

export const explainFailure = defineTool(
  {
    name: 'explain_failure',
    title: 'Explain a failure',
    description:
      'Why a run, or an attempt of a job, failed: the likely cause, its evidence, suggested fixes, and the call that helps. Name run_id or job_id.',
    group: 'semantic',
    output: Explanation,
  },
  async ({ client, signal }, { run_id, job_id, attempt }) => {
    if ((run_id === undefined) === (job_id === undefined))
      throw new ToolError('validation_error', 'name exactly one of run_id and job_id');
    const { next_actions, ...body } = await (run_id !== undefined
      ? client.call(routes.explainRunFailure, { params: { run_id }, query: { attempt }, signal })
      : client.call(routes.explainJobFailure, { params: { job_id: job_id! }, query: { attempt }, signal }));
    return { body, next_actions };
  },
);
