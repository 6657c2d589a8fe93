import type { EventRecord, Run } from '@svc/contract';
import type { Attempt } from '@svc/plugin-jobs';
import type { Parts } from './parts.js';

const MOST = 50;
/** They tell of the course of the run, which its status shows. */
const COURSE: ReadonlySet<string> = new Set([
  'JOB_QUEUED',
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_DELETED',
  'CHECKPOINT_CREATED',
  'JOB_LOST',
  'JOB_FOUND',
  'RUN_LOST',
  'RUN_FOUND',
  'AGENT_DISCONNECTED',
]);

/** Warnings about the run, about its attempt, and about the node while it was there; newest first. */
export async function happenedTo(
  { ctx, events }: Parts,
  run: Run,
  attempt: Attempt | null,
  now: number,
): Promise<EventRecord[]> {
  const end = run.finished_at ?? now;
  const isDuring = ({ created_at }: EventRecord) => created_at >= run.started_at && created_at <= end;
  const list = async (filter: { run_id: string } | { job_id: string } | { node_id: string }) => [
    ...(await events.list(ctx.db, { ...filter, severity: 'critical' }, MOST)),
    ...(await events.list(ctx.db, { ...filter, severity: 'warning' }, MOST)),
  ];
  const ofRun = await list({ run_id: run.id });
  const ofJob = attempt ? await list({ job_id: attempt.job_id }) : [];
  const ofNode = attempt?.node_id ? await list({ node_id: attempt.node_id }) : [];
  const others = [
    ...ofJob.filter(({ run_id }) => run_id === null),
    ...ofNode.filter(({ run_id, job_id }) => run_id === null && job_id === null),
  ].filter(isDuring);
  const all = new Map([...ofRun, ...others].map((event) => [event.id, event]));
  return [...all.values()]
    .filter(({ type }) => !COURSE.has(type))
    .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
}
