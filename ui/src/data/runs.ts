import type { MetricSummary, Run, RunStatus, RunSummary, SeriesByName } from '@svc/contract';
import type { Api } from './api.js';
import type { StreamListener } from './sse.js';

export type { MetricSummary, Run, RunStatus, RunSummary, SeriesByName };

export interface RunFilter {
  project_id?: string | null;
  experiment_id?: string | null;
  job_id?: string | null;
  status?: string | null;
  /** Words of the name. */
  q?: string | null;
  /** Separated by commas. */
  tags?: string | null;
  limit?: number;
}

/** `names` is sent as the one comma-separated value that the server reads. */
export interface SeriesQuery {
  names?: readonly string[];
  step_from?: number;
  step_to?: number;
  limit?: number;
}

export async function listRuns(api: Api, filter: RunFilter, signal?: AbortSignal): Promise<Run[]> {
  return (await api.get<{ items: Run[] }>('/runs', { ...filter }, signal)).items;
}

export function getRun(api: Api, runId: string, signal?: AbortSignal): Promise<Run> {
  return api.get<Run>(runPath(runId), {}, signal);
}

export function getRunSummary(api: Api, runId: string, signal?: AbortSignal): Promise<RunSummary> {
  return api.get<RunSummary>(`${runPath(runId)}/summary`, {}, signal);
}

export async function readSeries(
  api: Api,
  runId: string,
  { names, ...range }: SeriesQuery,
  signal?: AbortSignal,
): Promise<SeriesByName> {
  const query = { ...range, names: names?.join(',') };
  return (await api.get<{ series: SeriesByName }>(`${runPath(runId)}/metrics`, query, signal)).series;
}

export function streamPoints(
  api: Api,
  runId: string,
  names: readonly string[],
  listener: StreamListener,
): () => void {
  return api.stream(`${runPath(runId)}/metrics/stream`, { names: names.join(',') }, listener);
}

function runPath(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}
