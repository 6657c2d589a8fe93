import type { AnswerOf, CheckpointComparison, routes, Run, RunComparison, RunSummary } from '@svc/contract';
import { endpoint, toApiError, type Api, type ApiError } from './api.js';
import { findPrimaryMetric } from './metric-definitions.js';
import { getRun, getRunSummary, type SeriesByName } from './runs.js';

export type { CheckpointComparison, RunComparison };

/** Of the contract, which the page does not load as a whole. */
export const MAX_COMPARED = 50;

const COMPARE_RUNS = endpoint<typeof routes.compareRuns>('GET', '/runs/compare');
const COMPARE_CHECKPOINTS = endpoint<typeof routes.compareCheckpoints>('GET', '/checkpoints/compare');
const QUERY = endpoint<typeof routes.queryMetrics>('POST', '/runs/metrics:query');

export interface ComparedRun {
  /** As the address names it. */
  readonly asked: string;
  readonly run: Run;
  readonly summary: RunSummary;
}

/** Runs that are to be compared, in the order asked for, and those that could not be read. */
export interface RunsRead {
  readonly runs: readonly ComparedRun[];
  readonly failures: readonly { readonly asked: string; readonly error: ApiError }[];
}

export async function readComparedRuns(
  api: Api,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<RunsRead> {
  const read = await Promise.all(
    ids.map(async (asked) => {
      try {
        const [run, summary] = await Promise.all([
          getRun(api, asked, signal),
          getRunSummary(api, asked, signal),
        ]);
        return { asked, run, summary };
      } catch (error) {
        return { asked, error: toApiError(error) };
      }
    }),
  );
  signal?.throwIfAborted();
  const runs = read.flatMap((one) => ('run' in one ? [one as ComparedRun] : []));
  const failures = read.flatMap((one) => (one.error ? [{ asked: one.asked, error: one.error }] : []));
  if (runs.length === 0 && failures.some(({ error }) => error.status !== 404)) throw failures[0]!.error;
  return { runs, failures };
}

export function compareRuns(
  api: Api,
  ids: readonly string[],
  metric: string | null,
  signal?: AbortSignal,
): Promise<RunComparison> {
  return api.call(COMPARE_RUNS, { query: { ids: ids.join(','), metric: metric ?? undefined }, signal });
}

/** The newest of these runs by their primary metric. null: fewer than two, no such metric, or one by which the server cannot rank them. */
export async function rankNewest(
  api: Api,
  runs: readonly Run[],
  signal?: AbortSignal,
): Promise<RunComparison | null> {
  const ids = runs.slice(0, MAX_COMPARED).map(({ id }) => id);
  if (ids.length < 2) return null;
  if ((await findPrimaryMetric(api, { run_id: ids[0]! }, signal)) === null) return null;
  try {
    return await compareRuns(api, ids, null, signal);
  } catch (error) {
    if (!toApiError(error).isFinal) throw error;
    return null;
  }
}

export function compareCheckpoints(
  api: Api,
  ids: readonly string[],
  metric: string | null,
  signal?: AbortSignal,
): Promise<CheckpointComparison> {
  return api.call(COMPARE_CHECKPOINTS, {
    query: { ids: ids.join(','), metric: metric ?? undefined },
    signal,
  });
}

interface SeriesQuestion {
  readonly metric: string;
  readonly range: readonly [number, number] | null;
  /** Points of each run. */
  readonly limit: number;
}

/** One metric of several runs, by run id. */
export async function readSeriesOfRuns(
  api: Api,
  ids: readonly string[],
  { metric, range, limit }: SeriesQuestion,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, SeriesByName>>> {
  const steps = range === null ? {} : { step_from: range[0], step_to: range[1] };
  const body = { run_ids: [...ids], names: [metric], limit, ...steps };
  const answer: AnswerOf<typeof routes.queryMetrics>['body'] = await api.call(QUERY, { body, signal });
  return answer.series;
}
