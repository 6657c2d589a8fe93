import type { Run, RunStatus } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';
import { unassign } from './assigned-runs.js';
import { loadDocuments, saveDocuments } from './run-documents.js';
import type { Life } from './life.js';
import { fromRow, toColumns, toRow, type RunFields, type RunRow } from './run-row.js';
import { insertTags, replaceTags } from './run-search.js';
import type { RunProgress } from './service.js';

const IDS_PER_STATEMENT = 500;

/** A LOST run has not ended: it, or its job, may be found running again. */
export const OPEN_STATUSES: readonly RunStatus[] = ['RUNNING', 'LOST'];

/** Call it in a transaction: a run is several rows. */
export async function insertRun(db: Db, run: Run, importKey: string | null = null): Promise<void> {
  await runs(db).insert(toRow(run, importKey));
  await insertTags(db, run.id, run.tags);
  await saveDocuments(db, run.id, { config: run.config, environment: run.environment });
}

/** The run with its config and environment as lists show them: large ones in part. */
export async function findRun(db: Db, id: string): Promise<Run | null> {
  const row = await existing(db).where({ id }).first();
  return row ? fromRow(row) : null;
}

/** Those of these that exist, as lists show them. At most as many ids as a statement takes. */
export async function findRuns(db: Db, ids: readonly string[]): Promise<Run[]> {
  return (await existing(db).whereIn('id', [...ids])).map(fromRow);
}

export function idsOfExperiment(db: Db, experimentId: string): Promise<string[]> {
  return existing(db).where({ experiment_id: experimentId }).pluck('id') as Promise<string[]>;
}

export async function findWholeRun(db: Db, id: string): Promise<Run | null> {
  const run = await findRun(db, id);
  return run && { ...run, ...(await loadDocuments(db, id)) };
}

/** The whole run that was imported with this key. */
export async function findImported(db: Db, importKey: string): Promise<Run | null> {
  const row = await existing(db).where({ import_key: importKey }).first('id');
  return row ? findWholeRun(db, row.id) : null;
}

export async function findTarget(db: Db, id: string): Promise<IngestTarget | null> {
  return (await existing(db).where({ id }).first('id', 'job_id', 'attempt')) ?? null;
}

/** The runs of one attempt that have one of these statuses, oldest first. */
export async function runsOfAttempt(
  db: Db,
  jobId: string,
  attempt: number,
  statuses: readonly RunStatus[],
): Promise<Run[]> {
  const rows = await existing(db).where({ job_id: jobId, attempt }).whereIn('status', statuses).orderBy('id');
  return rows.map(fromRow);
}

export async function runsOfJob(db: Db, jobId: string): Promise<Pick<Run, 'id' | 'status'>[]> {
  return runs(db).where({ job_id: jobId }).select('id', 'status');
}

export async function countOfAttempt(db: Db, jobId: string, attempt: number): Promise<number> {
  const [row] = await runs(db).where({ job_id: jobId, attempt }).count({ count: '*' });
  return Number(row?.['count'] ?? 0);
}

export interface StatusChange {
  readonly status: RunStatus;
  readonly finished_at: number | null;
}

/** Changes the status of the run if it is one of `from`. Returns the changed run, or null. */
export async function changeStatus(
  db: Db,
  id: string,
  from: readonly RunStatus[],
  to: StatusChange,
): Promise<Run | null> {
  const columns = { ...to, stale_since: null };
  const [row] = await runs(db).where({ id }).whereIn('status', from).update(columns).returning('*');
  return row ? fromRow(row) : null;
}

/** Call it in a transaction: nobody else changes the row until it ends. */
export async function lockRow(db: Db, id: string): Promise<RunRow | null> {
  return (await existing(db).where({ id }).forUpdate().first()) ?? null;
}

/** Which of the runs exist; they do until the transaction ends. `ids` in order, so that two transactions do not wait for each other. */
export async function holdRuns(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
    const some = ids.slice(first, first + IDS_PER_STATEMENT);
    for (const { id } of await existing(db).whereIn('id', some).orderBy('id').forKeyShare().select('id'))
      held.add(id);
  }
  return held;
}

/** From this transaction on none of the runs exists. It waits for those that hold one. */
export async function markDeleted(db: Db, ids: readonly string[], at: number): Promise<void> {
  const held = runs(db).whereIn('id', ids).orderBy('id').forUpdate();
  await runs(db).whereIn('id', held.select('id')).update({ deleted_at: at, import_key: null });
  // A late report of its process would create the run again.
  await unassign(db, ids);
}

/** An imported run whose training went on has ended later. Returns the changed run, or null. */
export async function raiseEnd(db: Db, id: string, finishedAt: number): Promise<Run | null> {
  const [row] = await runs(db)
    .where({ id, status: 'IMPORTED' })
    .where('finished_at', '<', finishedAt)
    .update({ finished_at: finishedAt })
    .returning('*');
  return row ? fromRow(row) : null;
}

/** The row must be locked. */
export async function changeLife(db: Db, id: string, change: Partial<Life>): Promise<Run> {
  const [row] = await runs(db).where({ id }).update(change).returning('*');
  return fromRow(row as RunRow);
}

/** Stores a sign of life of each of these runs that is RUNNING; none of them is stale then. */
export async function noteSigns(db: Db, ids: readonly string[], at: number): Promise<void> {
  for (let first = 0; first < ids.length; first += IDS_PER_STATEMENT) {
    const some = ids.slice(first, first + IDS_PER_STATEMENT);
    // Locked in the order in which batches of points lock them, so that PostgreSQL has no deadlock to resolve.
    const open = runs(db).whereIn('id', some).where({ status: 'RUNNING' }).orderBy('id').forUpdate();
    await runs(db).whereIn('id', open.select('id')).update({ seen_at: at, stale_since: null });
  }
}

/** The RUNNING runs without a job whose last sign is not after `staleAt` and that are not stale yet, or whose last sign is not after `lostAt`. */
export function listSilent(db: Db, staleAt: number, lostAt: number): Promise<string[]> {
  return runs(db)
    .where({ status: 'RUNNING' })
    .whereNull('job_id')
    .where('seen_at', '<=', staleAt)
    .where((due) => void due.whereNull('stale_since').orWhere('seen_at', '<=', lostAt))
    .pluck('id');
}

/** Call it in a transaction. */
export async function updateRun(db: Db, id: string, fields: Partial<RunFields>): Promise<void> {
  const columns = toColumns(fields);
  if (Object.keys(columns).length > 0) await runs(db).where({ id }).update(columns);
  if (fields.tags) await replaceTags(db, id, fields.tags);
  const { config, environment } = fields;
  if (config || environment)
    await saveDocuments(db, id, { ...(config && { config }), ...(environment && { environment }) });
}

export async function raiseProgress(db: Db, id: string, { step, epoch }: RunProgress): Promise<void> {
  await db.raw(
    `update runs set
      step = case when step is null or step < :step then cast(:step as bigint) else step end,
      epoch = case when epoch is null or epoch < :epoch then cast(:epoch as double precision) else epoch end
    where id = :id and (step is null or epoch is null or step < :step or epoch < :epoch)`,
    { id, step, epoch },
  );
}

/** The number of runs of each of these projects or experiments. */
export async function countRuns(
  db: Db,
  level: 'project' | 'experiment',
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const column = `${level}_id`;
  const rows = (await db('runs')
    .whereIn(column, ids)
    .groupBy(column)
    .select(column)
    .count('* as count')) as Record<string, unknown>[];
  return new Map(rows.map((row) => [row[column] as string, Number(row['count'])]));
}

export async function placeRuns(
  db: Db,
  which: Partial<Pick<Run, 'id' | 'job_id'>>,
  { project_id, experiment_id }: Pick<Run, 'project_id' | 'experiment_id'>,
): Promise<void> {
  await runs(db).where(which).update({ project_id, experiment_id });
}

export async function moveExperimentRuns(db: Db, experimentId: string, toProjectId: string): Promise<void> {
  await runs(db).where({ experiment_id: experimentId }).update({ project_id: toProjectId });
}

/** Those that are not deleted. */
function existing(db: Db) {
  return runs(db).whereNull('deleted_at');
}

function runs(db: Db) {
  return db<RunRow>('runs');
}
