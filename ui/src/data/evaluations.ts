import type { Evaluation, EvaluationSubmit, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Evaluation, EvaluationSubmit };

const CREATE = endpoint<typeof routes.createEvaluation>('POST', '/checkpoints/{ckpt_id}/evaluations');
const LIST = endpoint<typeof routes.listCheckpointEvaluations>('GET', '/checkpoints/{ckpt_id}/evaluations');

/** Queues a job. */
export function evaluateCheckpoint(
  api: Api,
  checkpointId: string,
  body: EvaluationSubmit,
): Promise<Evaluation> {
  return api.call(CREATE, { params: { ckpt_id: checkpointId }, body });
}

/** Newest first. */
export async function listEvaluationsOf(
  api: Api,
  checkpointId: string,
  signal?: AbortSignal,
): Promise<Evaluation[]> {
  const input = { params: { ckpt_id: checkpointId }, query: { limit: 200 }, signal };
  return (await api.call(LIST, input)).items;
}
