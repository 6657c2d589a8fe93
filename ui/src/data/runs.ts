import type { MetricSummary, QueryOf, routes, Run, RunStatus, RunSummary, SeriesByName } from '@svc/contract';
import { endpoint, type Api } from './api.js';
import type { StreamListener } from './live-stream.js';

export type { MetricSummary, Run, RunStatus, RunSummary, SeriesByName };

const GET = endpoint<typeof routes.getRun>('GET', '/runs/{run_id}');
const SUMMARY = endpoint<typeof routes.getRunSummary>('GET', '/runs/{run_id}/summary');
const SERIES = endpoint<typeof routes.readSeries>('GET', '/runs/{run_id}/metrics');
const QUERY = endpoint<typeof routes.queryMetrics>('POST', '/runs/metrics:query');
const EXPORT = endpoint<typeof routes.exportMetrics>('GET', '/runs/{run_id}/metrics/export');
const POINTS = endpoint<typeof routes.streamPoints>('GET', '/runs/{run_id}/metrics/stream');

const MAX_QUERY_CHARS = 4_000;
/** Of an answer, as the server has it. */
const MAX_POINTS = 1_000_000;
const MAX_NAMES = 1_000;
const DEFAULT_LIMIT = 1_000;

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
  if (names !== undefined && !fitsQuery(names, range))
    return querySeries(api, runId, { names, ...range }, signal);
  const query = { ...range, names: toNames(names) };
  return (await api.call(SERIES, { params: { run_id: runId }, query, signal })).series;
}

/** In pieces, for names that a query cannot carry. */
async function querySeries(
  api: Api,
  runId: string,
  { names = [], ...range }: SeriesQuery,
  signal?: AbortSignal,
): Promise<SeriesByName> {
  const series: [string, SeriesByName[string]][] = [];
  const count = Math.min(MAX_NAMES, Math.floor(MAX_POINTS / (range.limit ?? DEFAULT_LIMIT)));
  for (let at = 0; at < names.length; at += count) {
    const body = { run_ids: [runId], names: names.slice(at, at + count), ...range };
    series.push(...Object.entries((await api.call(QUERY, { body, signal })).series[runId] ?? {}));
  }
  // By entries: a metric may be called `__proto__`.
  return Object.fromEntries(series);
}

/** Commas separate the names there, the head of a request is bounded, and so are the points of an answer. */
function fitsQuery(names: readonly string[], { limit = DEFAULT_LIMIT }: SeriesQuery): boolean {
  const isShort = names.join(',').length <= MAX_QUERY_CHARS && names.length * limit <= MAX_POINTS;
  return isShort && names.every((name) => !name.includes(','));
}

export function streamPoints(
  api: Api,
  runId: string,
  names: readonly string[],
  listener: StreamListener,
): () => void {
  // All points of the run, where the query cannot carry the names.
  const query = { names: fitsQuery(names, { limit: 0 }) ? toNames(names) : null };
  return api.stream(POINTS, { params: { run_id: runId }, query }, listener);
}

/** A name with a comma stands for several in that query. */
export function canExport(names: readonly string[]): boolean {
  return fitsQuery(names, { limit: 0 });
}

/** Every point of these metrics, as CSV. */
export function exportPoints(api: Api, runId: string, names: readonly string[]): Promise<Blob> {
  return api.download(EXPORT, {
    params: { run_id: runId },
    query: { format: 'csv', names: toNames(names) },
  });
}

function toNames(names: readonly string[] = []): string | null {
  return names.length === 0 ? null : names.join(',');
}
