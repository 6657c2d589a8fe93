import type { Run, RunStatus } from '@svc/contract';
import { toJson, type Db } from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';
import { fromRow, toRow, type RunRow } from './run-row.js';
import type { RunProgress } from './service.js';

/** A run that is LOST may be found again: it is not over. */
export const OPEN_STATUSES: readonly RunStatus[] = ['RUNNING', 'LOST'];

export interface RunFilter {
  readonly experiment_id?: string | undefined;
  readonly project_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly limit: number;
}

export type RunFields = Pick<Run, 'name' | 'tags' | 'notes' | 'config' | 'environment' | 'max_steps'>;

export async function insertRun(db: Db, run: Run): Promise<void> {
  await runs(db).insert(toRow(run));
}

export async function findRun(db: Db, id: string): Promise<Run | null> {
  const row = await runs(db).where({ id }).first();
  return row ? fromRow(row) : null;
}

export async function findTarget(db: Db, id: string): Promise<IngestTarget | null> {
  return (await runs(db).where({ id }).first('id', 'job_id', 'attempt')) ?? null;
}

/** Newest first; every filter given is applied. */
export async function listRuns(db: Db, { limit, ...filter }: RunFilter): Promise<Run[]> {
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
  const rows = await runs(db)
    .where(Object.fromEntries(wanted))
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit);
  return rows.map(fromRow);
}

/** The runs of one attempt that have one of these statuses, oldest first. */
export async function runsOfAttempt(
  db: Db,
  jobId: string,
  attempt: number,
  statuses: readonly RunStatus[],
): Promise<Run[]> {
  const rows = await runs(db).where({ job_id: jobId, attempt }).whereIn('status', statuses).orderBy('id');
  return rows.map(fromRow);
}

export interface RunMove {
  readonly status: RunStatus;
  readonly finished_at: number | null;
}

/** Moves the run to another status if it still has one of `from`; the run as it then is, or null. */
export async function moveRun(
  db: Db,
  id: string,
  from: readonly RunStatus[],
  to: RunMove,
): Promise<Run | null> {
  const [row] = await runs(db).where({ id }).whereIn('status', from).update(to).returning('*');
  return row ? fromRow(row) : null;
}

export async function updateRun(db: Db, id: string, fields: Partial<RunFields>): Promise<Run | null> {
  const { config, environment, tags, ...plain } = fields;
  const columns = {
    ...plain,
    ...(config && { config: toJson(config) }),
    ...(environment && { environment: toJson(environment) }),
    ...(tags && { tags: toJson(tags) }),
  };
  if (Object.keys(columns).length > 0) await runs(db).where({ id }).update(columns);
  return findRun(db, id);
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

/** How many runs stand under each of these projects or experiments. */
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

export async function moveExperimentRuns(db: Db, experimentId: string, toProjectId: string): Promise<void> {
  await runs(db).where({ experiment_id: experimentId }).update({ project_id: toProjectId });
}

function runs(db: Db) {
  return db<RunRow>('runs');
}
