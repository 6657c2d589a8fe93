import type { Evaluation, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Evaluation };

const LIST = endpoint<typeof routes.listEvaluations>('GET', '/evaluations');

/** Of the checkpoints of a run, newest first. */
export async function listEvaluations(
  api: Api,
  filter: { run_id: string; limit: number },
  signal?: AbortSignal,
): Promise<Evaluation[]> {
  return (await api.call(LIST, { query: filter, signal })).items;
}
