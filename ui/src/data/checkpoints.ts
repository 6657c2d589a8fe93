import type { Checkpoint } from '@svc/contract';
import type { Api } from './api.js';

export type { Checkpoint };

/** The newest checkpoints of a run. */
export async function listCheckpoints(
  api: Api,
  runId: string,
  limit: number,
  signal?: AbortSignal,
): Promise<Checkpoint[]> {
  const path = `/runs/${encodeURIComponent(runId)}/checkpoints`;
  return (await api.get<{ items: Checkpoint[] }>(path, { limit }, signal)).items;
}
