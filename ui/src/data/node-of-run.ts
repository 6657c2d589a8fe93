import type { Api } from './api.js';
import { listJobAttempts } from './jobs.js';
import { listNodes } from './nodes.js';
import type { Run } from './runs.js';

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
