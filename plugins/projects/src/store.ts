import { newId } from '@svc/contract';
import { fail, newestRows, requireId, type Db, type Listed, type Page } from '@svc/kernel';

export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly created_at: number;
}

export interface ExperimentRow extends ProjectRow {
  readonly project_id: string;
}

/** What PATCH and POST may set. */
export interface ProjectFields {
  readonly name: string;
  readonly description: string;
}

export interface ExperimentFields extends ProjectFields {
  readonly project_id: string;
}

/** Until the transaction ends, `share` prevents that the row is deleted, and `update` prevents any other lock. */
export type Lock = 'none' | 'share' | 'update';

/** Null when the name is taken. */
export async function insertProject(db: Db, fields: ProjectFields, at: number): Promise<ProjectRow | null> {
  const row = { id: newId('project', at), ...fields, created_at: at };
  const inserted = await db('projects').insert(row).onConflict('name').ignore().returning('id');
  return inserted.length === 1 ? row : null;
}

/** Null when the name is taken in its project. */
export async function insertExperiment(
  db: Db,
  fields: ExperimentFields,
  at: number,
): Promise<ExperimentRow | null> {
  const row = { id: newId('experiment', at), ...fields, created_at: at };
  const inserted = await db('experiments')
    .insert(row)
    .onConflict(['project_id', 'name'])
    .ignore()
    .returning('id');
  return inserted.length === 1 ? row : null;
}

export async function findProject(
  db: Db,
  where: { id: string } | { name: string },
  lock: Lock = 'none',
): Promise<ProjectRow | undefined> {
  return locked(db<ProjectRow>('projects').where(where), lock).first();
}

export async function findExperiment(
  db: Db,
  where: { id: string } | { project_id: string; name: string },
  lock: Lock = 'none',
): Promise<ExperimentRow | undefined> {
  return locked(db<ExperimentRow>('experiments').where(where), lock).first();
}

/** Any form of id; throws not_found. */
export async function requireProjectRow(db: Db, id: string, lock: Lock = 'none'): Promise<ProjectRow> {
  return (
    (await findProject(db, { id: requireId('project', id) }, lock)) ?? fail('not_found', `no project "${id}"`)
  );
}

export async function requireExperimentRow(db: Db, id: string, lock: Lock = 'none'): Promise<ExperimentRow> {
  return (
    (await findExperiment(db, { id: requireId('experiment', id) }, lock)) ??
    fail('not_found', `no experiment "${id}"`)
  );
}

export async function selectProjects(db: Db, page: Page): Promise<Listed<ProjectRow>> {
  return newestRows(db, { from: 'projects', ...page });
}

export async function selectExperiments(
  db: Db,
  projectId: string | null,
  page: Page,
): Promise<Listed<ExperimentRow>> {
  const where = projectId === null ? {} : { project_id: projectId };
  return newestRows(db, { from: 'experiments', where: (query) => void query.where(where), ...page });
}

/** SQLite has no row locks and needs none: its transactions run one after another. */
function locked<Q extends { forShare(): Q; forUpdate(): Q }>(query: Q, lock: Lock): Q {
  if (lock === 'none') return query;
  return lock === 'share' ? query.forShare() : query.forUpdate();
}
