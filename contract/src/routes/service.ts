import { Type } from 'typebox';
import { route, strict } from '../route.js';
import { JOB_STATUSES, type JobStatus } from '../protocol/job-states.js';
import { Job } from '../records/job.js';
import type { TInteger } from 'typebox';

export const getHealth = route({
  id: 'service.health',
  method: 'GET',
  path: '/health',
  scope: 'none',
  summary: 'Health and version of the server.',
  answers: {
    200: strict(
      { status: Type.Enum(['ok']), version: Type.String(), uptime_s: Type.Number() },
      { $id: 'Health' },
    ),
  },
});

const counts = Object.fromEntries(JOB_STATUSES.map((status) => [status, Type.Integer()])) as Record<
  JobStatus,
  TInteger
>;

export const getStatus = route({
  id: 'service.status',
  method: 'GET',
  path: '/status',
  scope: 'read',
  summary:
    'Node totals, job counts per status, and running jobs: the newest 1000, or fewer when they are large.',
  answers: {
    200: strict(
      {
        nodes: strict({ total: Type.Integer(), online: Type.Integer() }),
        jobs: strict(counts),
        running: Type.Array(Job),
      },
      { $id: 'Status' },
    ),
  },
});
