import { JOB_STATUSES, type AttemptKey, type Job, type JobAttempt, type JobStatus } from '@svc/contract';
import { fail, requireId, type Db, newestRows, toSearchWords, whereNameOrId } from '@svc/kernel';
import type { ResolvedPlacement } from '@svc/plugin-projects';
import { toJob, toJobAttempt, type AttemptRow, type JobRow } from './job-row.js';
import type { Attempt, JobFilter, JobPage } from './service.js';

export async function getRow(db: Db, id: string): Promise<JobRow | null> {
  return (await db<JobRow>('jobs').where({ id }).first()) ?? null;
}

/** Locks the row until the transaction ends. */
export async function lockRow(db: Db, id: string): Promise<JobRow | null> {
  return (await db<JobRow>('jobs').where({ id }).forUpdate().first()) ?? null;
}

export async function getJob(db: Db, id: string): Promise<Job | null> {
  const row = await getRow(db, id);
  return row && toJob(row);
}

export async function lockJob(db: Db, id: string): Promise<Job | null> {
  const row = await lockRow(db, id);
  return row && toJob(row);
}

export async function listJobs(db: Db, { q = '', before, limit, ...filter }: JobFilter): Promise<JobPage> {
  const equal = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const words = toSearchWords(q);
  const { items: rows, ...rest } = await newestRows<JobRow>(db, {
    from: 'jobs',
    where(query) {
      query.where(equal);
      if (before !== undefined) query.where('created_at', '<', before);
      for (const word of words) whereNameOrId(query, word, 'job');
    },
    isSearch: words.length > 0,
    limit: limit + 1,
  });
  const page = rows.slice(0, limit);
  const hasMore = rows.length > limit || rest.truncated === true;
  return {
    items: page.map(toJob),
    next_before: hasMore ? (page.at(-1)?.created_at ?? null) : null,
    ...(rows.length <= limit && rest),
  };
}

export async function countByStatus(db: Db): Promise<Record<JobStatus, number>> {
  const rows = (await db<JobRow>('jobs')
    .select('status')
    .count({ count: '*' })
    .groupBy('status')) as unknown as {
    status: JobStatus;
    count: number;
  }[];
  const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]));
  return Object.fromEntries(JOB_STATUSES.map((status) => [status, counts.get(status) ?? 0])) as Record<
    JobStatus,
    number
  >;
}

export async function snapshotsInUse(db: Db, sha256s: readonly string[]): Promise<Set<string>> {
  const rows = await db<JobRow>('jobs').distinct('snapshot').whereIn('snapshot', sha256s);
  return new Set(rows.map(({ snapshot }) => snapshot as string));
}

export async function getAttemptRow(db: Db, { job_id, attempt }: AttemptKey): Promise<AttemptRow | null> {
  return (await db<AttemptRow>('attempts').where({ job_id, attempt }).first()) ?? null;
}

export async function findAttempt(db: Db, key: AttemptKey): Promise<Attempt | null> {
  const row = await getAttemptRow(db, key);
  return row && { ...row, gpu_indices: JSON.parse(row.gpu_indices) as number[] };
}

/** By the number of the attempt; null: it was not dispatched. */
export async function nodesOfAttempts(db: Db, job_id: string): Promise<Map<number, string | null>> {
  const rows = await db<AttemptRow>('attempts').where({ job_id }).select('attempt', 'node_id');
  return new Map(rows.map(({ attempt, node_id }) => [attempt, node_id]));
}

/** Locks the row until the transaction ends. */
export async function lockAttemptRow(db: Db, { job_id, attempt }: AttemptKey): Promise<AttemptRow | null> {
  return (await db<AttemptRow>('attempts').where({ job_id, attempt }).forUpdate().first()) ?? null;
}

/** Stores that the agent has the attempt on disk; false when the attempt is no longer being dispatched to that node. */
export async function noteAccepted(
  db: Db,
  { job_id, attempt }: AttemptKey,
  node_id: string,
  at: number,
): Promise<boolean> {
  const changed = await db<AttemptRow>('attempts')
    .where({ job_id, attempt, node_id, status: 'DISPATCHING', accepted_at: null })
    .update({ accepted_at: at });
  return changed === 1;
}

/** The attempt as its record shows it. */
export async function getAttempt(db: Db, key: AttemptKey): Promise<JobAttempt | null> {
  const row = await getAttemptRow(db, key);
  return row ? toJobAttempt(row) : null;
}

/** Newest first. */
export async function listJobAttempts(
  db: Db,
  jobId: string,
  { before, limit = 100 }: { readonly before?: number; readonly limit?: number },
): Promise<JobAttempt[]> {
  const query = db<AttemptRow>('attempts').where({ job_id: jobId }).orderBy('attempt', 'desc').limit(limit);
  if (before !== undefined) void query.where('attempt', '<', before);
  return (await query).map(toJobAttempt);
}

/** Sets the end of an attempt that another one follows, also when it is unknown how it ended. */
export async function closeAttempt(db: Db, { id, attempt }: JobRow, at: number): Promise<void> {
  await db<AttemptRow>('attempts')
    .where({ job_id: id, attempt, finished_at: null })
    .update({ finished_at: at });
}

/** Jobs that may have a process on the node. */
export async function listOnNode(db: Db, nodeId: string): Promise<JobRow[]> {
  return db<JobRow>('jobs').where({ node_id: nodeId }).whereIn('status', ['DISPATCHING', 'RUNNING', 'LOST']);
}

export async function countByPlacement(
  db: Db,
  level: 'project' | 'experiment',
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const column = `${level}_id` as const;
  const rows = (await db<JobRow>('jobs')
    .whereIn(column, [...ids])
    .select({ id: column })
    .count({ count: '*' })
    .groupBy(column)) as unknown as { id: string; count: number }[];
  return new Map(rows.map(({ id, count }) => [id, Number(count)]));
}

export async function moveExperimentJobs(db: Db, experimentId: string, toProjectId: string): Promise<void> {
  await db<JobRow>('jobs').where({ experiment_id: experimentId }).update({ project_id: toProjectId });
}

export async function placeJob(db: Db, id: string, placement: ResolvedPlacement): Promise<void> {
  await db<JobRow>('jobs').where({ id }).update(placement);
}

export async function dropRun(db: Db, id: string, run_id: string): Promise<void> {
  await db<JobRow>('jobs').where({ id, run_id }).update({ run_id: null });
  await db<AttemptRow>('attempts').where({ job_id: id, run_id }).update({ run_id: null });
}

/** Any form of id; throws not_found. */
export async function requireJob(db: Db, id: string): Promise<Job> {
  return (await getJob(db, requireId('job', id))) ?? fail('not_found', `no job "${id}"`);
}
