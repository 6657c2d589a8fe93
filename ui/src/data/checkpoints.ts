import type { BestCheckpoint, Checkpoint, ListedCheckpoint, routes } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { endpoint, type Api } from './api.js';

export type { BestCheckpoint, Checkpoint, ListedCheckpoint };

const LIST = endpoint<typeof routes.listRunCheckpoints>('GET', '/runs/{run_id}/checkpoints');
const GET = endpoint<typeof routes.getCheckpoint>('GET', '/checkpoints/{ckpt_id}');
const RECOMMEND = endpoint<typeof routes.recommendCheckpoint>('GET', '/checkpoints:recommend');
const BEST_OF_EXPERIMENT = endpoint<typeof routes.bestCheckpoint>(
  'GET',
  '/experiments/{experiment_id}/best-checkpoint',
);
const SERIES = endpoint<typeof routes.readSeries>('GET', '/runs/{run_id}/metrics');

/** The newest checkpoints of a run. */
export async function listCheckpoints(
  api: Api,
  runId: string,
  limit: number,
  signal?: AbortSignal,
): Promise<ListedCheckpoint[]> {
  return (await api.call(LIST, { params: { run_id: runId }, query: { limit }, signal })).items;
}

export function getCheckpoint(api: Api, id: string, signal?: AbortSignal): Promise<Checkpoint> {
  return api.call(GET, { params: { ckpt_id: id }, signal });
}

/** Of a run or an experiment, by the primary metric or that one; the server refuses it when there is none, or no checkpoint has a value of it. */
export function recommendCheckpoint(
  api: Api,
  of: { run_id: string } | { experiment_id: string },
  signal?: AbortSignal,
  metric?: string,
): Promise<BestCheckpoint> {
  return api.call(RECOMMEND, { query: { ...of, metric }, signal });
}

export function bestOfExperiment(api: Api, id: string, signal?: AbortSignal): Promise<BestCheckpoint> {
  return api.call(BEST_OF_EXPERIMENT, { params: { experiment_id: id }, signal });
}

/** What the training logged of a metric last, when it saved the checkpoint. */
export interface MetricAtCheckpoint {
  readonly name: string;
  readonly value: number;
  readonly step: number;
}

/** The server thins a series to its first, extreme and last points: the last one is wanted. */
const FEWEST_POINTS = 4;

/** By name; empty for a checkpoint without a step. */
export async function metricsAt(
  api: Api,
  { run_id: runId, step }: Pick<Checkpoint, 'run_id' | 'step'>,
  signal?: AbortSignal,
): Promise<MetricAtCheckpoint[]> {
  if (step === null) return [];
  const query = { step_to: step, limit: FEWEST_POINTS };
  const { series } = await api.call(SERIES, { params: { run_id: runId }, query, signal });
  return Object.entries(series)
    .flatMap(([name, { steps, values }]) => {
      const [at, value] = [steps.at(-1), values.at(-1)];
      return at === undefined || value === undefined
        ? []
        : [{ name, value: fromMetricValue(value), step: at }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
