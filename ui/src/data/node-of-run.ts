import type { Api } from './api.js';
import { getJob, listJobAttempts } from './jobs.js';
import { listNodes, type NodeRecord } from './nodes.js';
import type { Run } from './runs.js';

/** Where a run of a job ran. */
export interface RunPlace {
  readonly node: NodeRecord;
  /** The indices of its slots; null: of an earlier attempt nobody knows them any more. */
  readonly slots: readonly number[] | null;
}

/** null: the run is of no job, or its node is gone. */
export async function findPlaceOfRun(
  api: Api,
  { job_id: jobId, attempt }: Run,
  signal?: AbortSignal,
): Promise<RunPlace | null> {
  if (jobId === null) return null;
  const [job, attempts, nodes] = await Promise.all([
    getJob(api, jobId, signal),
    listJobAttempts(api, jobId, signal),
    listNodes(api, signal),
  ]);
  const own = attempts.find((each) => each.attempt === attempt);
  const node = nodes.find(({ id }) => id === own?.node_id);
  return node ? { node, slots: job.attempt === attempt ? job.gpu_indices : null } : null;
}

/** The name of the node where the files of a run of a job are; null: unknown. */
export async function findNodeOfRun(
  api: Api,
  { job_id: jobId, attempt }: Run,
  signal?: AbortSignal,
): Promise<string | null> {
  if (jobId === null) return null;
  const [attempts, nodes] = await Promise.all([listJobAttempts(api, jobId, signal), listNodes(api, signal)]);
  const own = attempts.find((each) => each.attempt === attempt);
  return nodes.find(({ id }) => id === own?.node_id)?.name ?? null;
}
