import { Type } from 'typebox';
import { PLAIN, limit, listOf, nullable, route, strict, page, truncated, Timestamp } from '../route.js';
import { Job, JobAttempt, JobStatusName, JobSubmit, Runner } from '../records/job.js';
import { Run } from '../records/run.js';

export const submitJob = route({
  id: 'jobs.submit',
  method: 'POST',
  path: '/jobs',
  scope: 'write',
  summary: 'Submit a job. The Idempotency-Key header makes a repeat answer 200 with the first record.',
  body: JobSubmit,
  answers: { 200: Job, 201: Job },
});

export const listJobs = route({
  id: 'jobs.list',
  method: 'GET',
  path: '/jobs',
  scope: 'read',
  summary:
    'Jobs, newest first; `before` is the next_before of the page before. A page is cut at 8 MiB (`truncated`).',
  query: strict({
    status: Type.Optional(JobStatusName),
    name: Type.Optional(
      Type.String({ maxLength: 200, pattern: PLAIN, description: 'Only jobs of exactly this name.' }),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: PLAIN,
        description:
          'Words, whatever their case: each occurs in the name, or is the beginning or end of the id (at least 6 characters of it).',
      }),
    ),
    project_id: Type.Optional(Type.String()),
    experiment_id: Type.Optional(Type.String()),
    node_id: Type.Optional(Type.String()),
    before: Type.Optional(Timestamp),
    limit: limit(),
  }),
  answers: { 200: strict({ items: Type.Array(Job), next_before: nullable(Type.Integer()), truncated }) },
});

export const getJob = route({
  id: 'jobs.get',
  method: 'GET',
  path: '/jobs/{job_id}',
  scope: 'read',
  summary: 'One job. env values are hidden from callers without write scope.',
  answers: { 200: Job },
});

export const listJobAttempts = route({
  id: 'jobs.attempts',
  method: 'GET',
  path: '/jobs/{job_id}/attempts',
  scope: 'read',
  summary: 'The attempts of the job and how each ended, newest first.',
  query: strict({
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'The number of the last attempt of the answer before: the list goes on behind it.',
      }),
    ),
    limit: limit(),
  }),
  answers: { 200: listOf(JobAttempt) },
});

export const CancelResult = Type.Enum(['CANCELLED', 'cancel-requested']);

export const cancelJob = route({
  id: 'jobs.cancel',
  method: 'POST',
  path: '/jobs/{job_id}/cancel',
  scope: 'write',
  summary: 'Cancel: SIGTERM to the process group, SIGKILL after the grace.',
  answers: {
    200: strict({
      job_id: Type.String(),
      result: CancelResult,
      kill_grace_s: nullable(
        Type.Number({ description: 'From SIGTERM to SIGKILL; null when there is no process to stop.' }),
      ),
    }),
  },
});

export const retryJob = route({
  id: 'jobs.retry',
  method: 'POST',
  path: '/jobs/{job_id}/retry',
  scope: 'write',
  summary: 'Queue a terminal or LOST job again; attempt rises by 1.',
  answers: { 200: Job },
});

export const listJobRuns = route({
  id: 'jobs.runs',
  method: 'GET',
  path: '/jobs/{job_id}/runs',
  scope: 'read',
  summary: 'All runs of the job, over all attempts.',
  query: strict(page()),
  answers: { 200: listOf(Run) },
});

export const listRunners = route({
  id: 'runners.list',
  method: 'GET',
  path: '/runners',
  scope: 'read',
  summary: 'The runners that a job can name, with the JSON Schema of their `runner_options`.',
  answers: { 200: listOf(Runner) },
});
