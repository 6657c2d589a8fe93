import type { Api } from './api.js';
import type { EventFilter } from './event-list.js';
import { getJob } from './jobs.js';
import { getRun } from './runs.js';

/** Names of the job and of the run that events are filtered by; null: not known. */
export interface ScopeNames {
  readonly job: string | null;
  readonly run: string | null;
}

export async function readScopeNames(
  api: Api,
  { job_id: jobId, run_id: runId }: EventFilter,
  signal?: AbortSignal,
): Promise<ScopeNames> {
  const nameOf = (record: Promise<{ name: string }>) =>
    record.then(
      ({ name }) => name,
      () => null,
    );
  const [job, run] = await Promise.all([
    jobId ? nameOf(getJob(api, jobId, signal)) : null,
    runId ? nameOf(getRun(api, runId, signal)) : null,
  ]);
  return { job, run };
}
