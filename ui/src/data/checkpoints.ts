import type { Checkpoint, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Checkpoint };

const LIST = endpoint<typeof routes.listRunCheckpoints>('GET', '/runs/{run_id}/checkpoints');

/** The newest checkpoints of a run. */
export async function listCheckpoints(
  api: Api,
  runId: string,
  limit: number,
  signal?: AbortSignal,
): Promise<Checkpoint[]> {
  return (await api.call(LIST, { params: { run_id: runId }, query: { limit }, signal })).items;
}
