import { Type } from 'typebox';
import { FailureExplanation } from '../records/failure.js';
import { route, strict } from '../route.js';

const attempt = Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }));

export const explainRunFailure = route({
  id: 'runs.failure',
  method: 'GET',
  path: '/runs/{run_id}/failure',
  scope: 'read',
  summary:
    'Why the run failed, with evidence. Without `attempt`: in the attempt of its job that the run belongs to.',
  query: strict({ attempt }),
  answers: { 200: FailureExplanation },
});

export const explainJobFailure = route({
  id: 'jobs.failure',
  method: 'GET',
  path: '/jobs/{job_id}/failure',
  scope: 'read',
  summary: 'Why an attempt of the job failed (its last one without `attempt`), with evidence.',
  query: strict({ attempt }),
  answers: { 200: FailureExplanation },
});
