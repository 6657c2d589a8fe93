import type { MetricSummary, QueryOf, routes, Run, RunStatus, RunSummary, SeriesByName } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import type { StreamListener } from './live-stream.js';

export type { MetricSummary, Run, RunStatus, RunSummary, SeriesByName };

const GET = endpoint<typeof routes.getRun>('GET', '/runs/{run_id}');
const SUMMARY = endpoint<typeof routes.getRunSummary>('GET', '/runs/{run_id}/summary');
const SERIES = endpoint<typeof routes.readSeries>('GET', '/runs/{run_id}/metrics');
const POINTS = endpoint<typeof routes.streamPoints>('GET', '/runs/{run_id}/metrics/stream');

type RunQuery = QueryOf<typeof routes.listRuns>;
export type RunFilter = { [K in keyof RunQuery]?: RunQuery[K] | null };

/** `names` is sent as the one comma-separated value that the server reads. */
export interface SeriesQuery {
  names?: readonly string[];
  step_from?: number;
  step_to?: number;
  limit?: number;
}

export function getRun(api: Api, runId: string, signal?: AbortSignal): Promise<Run> {
  return api.call(GET, { params: { run_id: runId }, signal });
}

export function getRunSummary(api: Api, runId: string, signal?: AbortSignal): Promise<RunSummary> {
  return api.call(SUMMARY, { params: { run_id: runId }, signal });
}

export async function readSeries(
  api: Api,
  runId: string,
  { names, ...range }: SeriesQuery,
  signal?: AbortSignal,
): Promise<SeriesByName> {
  const query = { ...range, names: toNames(names) };
  return (await api.call(SERIES, { params: { run_id: runId }, query, signal })).series;
}

export function streamPoints(
  api: Api,
  runId: string,
  names: readonly string[],
  listener: StreamListener,
): () => void {
  return api.stream(POINTS, { params: { run_id: runId }, query: { names: toNames(names) } }, listener);
}

function toNames(names: readonly string[] = []): string | null {
  return names.length === 0 ? null : names.join(',');
}
