import { Type } from 'typebox';
import { listOf, page, PLAIN, route, strict } from '../route.js';
import { Evaluation, EvaluationStatusName, EvaluationSubmit } from '../records/evaluation.js';

export const createEvaluation = route({
  id: 'evaluations.create',
  method: 'POST',
  path: '/checkpoints/{ckpt_id}/evaluations',
  scope: 'write',
  summary:
    'Evaluate a checkpoint: queues an EVALUATE job. What is left out of working_dir and resources is that of the training job. The Idempotency-Key header makes a repeat answer 200 with the first record.',
  body: EvaluationSubmit,
  answers: { 200: Evaluation, 201: Evaluation },
});

export const listCheckpointEvaluations = route({
  id: 'checkpoints.evaluations',
  method: 'GET',
  path: '/checkpoints/{ckpt_id}/evaluations',
  scope: 'read',
  summary: 'Evaluations of the checkpoint, newest first.',
  query: strict(page()),
  answers: { 200: listOf(Evaluation) },
});

export const listEvaluations = route({
  id: 'evaluations.list',
  method: 'GET',
  path: '/evaluations',
  scope: 'read',
  summary: 'Evaluations, newest first; every filter given is applied.',
  query: strict({
    run_id: Type.Optional(Type.String()),
    checkpoint_id: Type.Optional(Type.String()),
    status: Type.Optional(EvaluationStatusName),
    suite: Type.Optional(
      Type.String({ maxLength: 200, pattern: PLAIN, description: 'Only evaluations of exactly this suite.' }),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: PLAIN,
        description:
          'Words that each occur in the suite, the dataset or its version, whatever the case of the letters A to Z.',
      }),
    ),
    ...page(),
  }),
  answers: { 200: listOf(Evaluation) },
});

export const getEvaluation = route({
  id: 'evaluations.get',
  method: 'GET',
  path: '/evaluations/{eval_id}',
  scope: 'read',
  summary: 'One evaluation.',
  answers: { 200: Evaluation },
});
