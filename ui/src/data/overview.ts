import type { Job, routes, Run } from '@svc/contract';
import { endpoint, unlessMissing, type Api } from './api.js';
import { getRunSummary, type RunSummary } from './runs.js';

const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const RUNS = endpoint<typeof routes.listRuns>('GET', '/runs');
const MOST = 200;

/** Something that runs: a job, or a run that belongs to none. */
export interface Activity {
  readonly id: string;
  readonly job: Job | null;
  readonly run: Run | null;
  readonly startedAt: number;
}

/** The queue in the order in which it is served, of the newest 200 jobs in it. */
export async function readQueue(api: Api, signal?: AbortSignal): Promise<Job[]> {
  const { items } = await api.call(JOBS, { query: { status: 'QUEUED', limit: MOST }, signal });
  return items.sort((a, b) => b.priority - a.priority || a.created_at - b.created_at);
}

/** The newest of the jobs that a node has taken and that do not run yet. */
export async function readStarting(api: Api, signal?: AbortSignal): Promise<Job[]> {
  return (await api.call(JOBS, { query: { status: 'DISPATCHING', limit: MOST }, signal })).items;
}

/** The newest of the runs that go on without a job of this service. */
export async function readFreeRuns(api: Api, signal?: AbortSignal): Promise<Run[]> {
  const { items } = await api.call(RUNS, { query: { status: 'RUNNING', limit: MOST }, signal });
  return items.filter(({ job_id: jobId }) => jobId === null);
}

/** Jobs first, which hold the GPUs; of each, what began last comes first. */
export function toActivities(jobs: readonly Job[], runs: readonly Run[]): Activity[] {
  const ofJobs = jobs.map((job) => ({
    id: job.id,
    job,
    run: null,
    startedAt: job.started_at ?? job.dispatched_at ?? job.created_at,
  }));
  const ofRuns = runs.map((run) => ({ id: run.id, job: null, run, startedAt: run.started_at }));
  const newestFirst = (a: Activity, b: Activity) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1);
  return [...ofJobs.sort(newestFirst), ...ofRuns.sort(newestFirst)];
}

export function runIdOf({ job, run }: Activity): string | null {
  return run?.id ?? job?.run_id ?? null;
}

/** By the id of the run; one that was deleted meanwhile is left out. */
export async function readSummaries(
  api: Api,
  runIds: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, RunSummary>> {
  const read = (id: string) => unlessMissing(getRunSummary(api, id, signal));
  const summaries = await Promise.all(runIds.map(read));
  return new Map(summaries.flatMap((summary) => (summary ? [[summary.run_id, summary]] : [])));
}

/** Name and newest value of the metric that counts most; null while none is known. */
export function primaryMetric(
  summary: RunSummary | undefined,
): { readonly name: string; readonly value: number | string } | null {
  const found = Object.entries(summary?.metrics ?? {}).find(([, { is_primary: isPrimary }]) => isPrimary);
  return found ? { name: found[0], value: found[1].latest.value } : null;
}
