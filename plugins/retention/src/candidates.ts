import type { Db } from '@svc/kernel';
import { HOLDINGS } from './belongings.js';
import type { Criteria } from './criteria.js';

/** A job with its runs, or a run that has no job; they go together or not at all. */
export interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly finished_at: number;
  /** null: a run without a job. */
  readonly jobId: string | null;
  readonly runIds: readonly string[];
  /** One of its runs has the tag that keeps it. */
  readonly isKept: boolean;
}

type Row = Pick<Candidate, 'id' | 'name' | 'status' | 'finished_at'>;
type Kind = 'jobs' | 'runs';

const PAGE = 200;
const OPEN_JOBS = ['QUEUED', 'DISPATCHING', 'RUNNING', 'LOST'];

/**
 * Oldest first, jobs before runs. Left out is what may still be at work: a job that holds a slot, that has a run which is RUNNING, or one
 * whose checkpoint is being evaluated.
 */
export async function* candidates(db: Db, criteria: Criteria): AsyncGenerator<Candidate, undefined> {
  for (const kind of ['jobs', 'runs'] as const) {
    let after: Row | undefined;
    do {
      const rows = await readPage(db, kind, criteria, after);
      for (const row of rows) {
        const candidate = await findCandidate(db, kind, row, criteria);
        if (candidate) yield candidate;
      }
      after = rows.length === PAGE ? rows.at(-1) : undefined;
    } while (after);
  }
}

/** Again, within the transaction that decides: null when it must stay by now. */
export async function lockCandidate(
  db: Db,
  { id, jobId }: Candidate,
  criteria: Criteria,
): Promise<Candidate | null> {
  const kind = jobId === null ? 'runs' : 'jobs';
  const row = await select(db, kind, criteria).where({ id }).forUpdate().first();
  const candidate = row && (await findCandidate(db, kind, row as Row, criteria));
  return candidate?.isKept === false ? candidate : null;
}

function select(db: Db, kind: Kind, { before, projectId, states }: Criteria) {
  const query = db(kind)
    .select('id', 'name', 'status', 'finished_at')
    .whereIn('status', states)
    .where('finished_at', '<', before);
  if (projectId !== null) query.where({ project_id: projectId });
  if (kind === 'runs') query.whereNull('job_id');
  return query;
}

async function readPage(db: Db, kind: Kind, criteria: Criteria, after: Row | undefined): Promise<Row[]> {
  const query = select(db, kind, criteria).orderBy(['finished_at', 'id']).limit(PAGE);
  if (after) query.whereRaw('(finished_at, id) > (?, ?)', [after.finished_at, after.id]);
  return (await query) as Row[];
}

async function findCandidate(db: Db, kind: Kind, row: Row, { keepTag }: Criteria): Promise<Candidate | null> {
  const jobId = kind === 'jobs' ? row.id : null;
  const runs: { id: string; status: string }[] =
    jobId === null ? [row] : await db('runs').select('id', 'status').where({ job_id: jobId });
  const runIds = runs.map(({ id }) => id);
  if (runs.some(({ status }) => status === 'RUNNING')) return null;
  if (jobId !== null && (await holdsSomething(db, jobId))) return null;
  if (await isEvaluated(db, runIds)) return null;
  const tagged = await db('run_tags').whereIn('run_id', runIds).where({ tag: keepTag }).first('tag');
  return { ...row, jobId, runIds, isKept: tagged !== undefined };
}

async function holdsSomething(db: Db, jobId: string): Promise<boolean> {
  for (const table of HOLDINGS) if (await db(table).where({ job_id: jobId }).first('job_id')) return true;
  return false;
}

async function isEvaluated(db: Db, runIds: readonly string[]): Promise<boolean> {
  const checkpoints = db('checkpoints').select('id').whereIn('run_id', runIds);
  const job = await db('jobs').whereIn('status', OPEN_JOBS).whereIn('checkpoint_id', checkpoints).first('id');
  return job !== undefined;
}
