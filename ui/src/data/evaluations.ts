import type { Evaluation, EvaluationSubmit, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Evaluation, EvaluationSubmit };

const CREATE = endpoint<typeof routes.createEvaluation>('POST', '/checkpoints/{ckpt_id}/evaluations');
const LIST = endpoint<typeof routes.listEvaluations>('GET', '/evaluations');
const OF_CHECKPOINT = endpoint<typeof routes.listCheckpointEvaluations>(
  'GET',
  '/checkpoints/{ckpt_id}/evaluations',
);

/** Queues a job. */
export function evaluateCheckpoint(
  api: Api,
  checkpointId: string,
  body: EvaluationSubmit,
): Promise<Evaluation> {
  return api.call(CREATE, { params: { ckpt_id: checkpointId }, body });
}

/** Of the checkpoints of a run, newest first. */
export async function listEvaluations(
  api: Api,
  filter: { run_id: string; limit: number },
  signal?: AbortSignal,
): Promise<Evaluation[]> {
  return (await api.call(LIST, { query: filter, signal })).items;
}

/** Newest first. */
export async function listEvaluationsOf(
  api: Api,
  checkpointId: string,
  signal?: AbortSignal,
): Promise<Evaluation[]> {
  const input = { params: { ckpt_id: checkpointId }, query: { limit: 200 }, signal };
  return (await api.call(OF_CHECKPOINT, input)).items;
}
