import type { Experiment, Project } from '@svc/contract';
import {
  fail,
  failValidation,
  isUniqueViolation,
  namesById,
  type Db,
  type Listed,
  type Page,
  type PluginContext,
} from '@svc/kernel';
import type { PlacementLevel } from './hooks.js';
import { DEFAULT_PROJECT, looksLikeId, resolvePlacement, resolveProject } from './resolve.js';
import type { Projects } from './service.js';
import {
  findProject,
  insertExperiment,
  insertProject,
  requireExperimentRow,
  requireProjectRow,
  selectExperiments,
  selectProjects,
  type ExperimentFields,
  type ProjectFields,
} from './store.js';
import { UsageCounts } from './usage.js';

export interface NewExperiment extends ProjectFields {
  /** Any form of id; null: the project `default`. */
  readonly project_id: string | null;
}

/** Projects and experiments as their endpoints and other plugins see them. */
export class ProjectCatalog implements Projects {
  readonly #usage: UsageCounts;
  readonly resolve = resolvePlacement;

  constructor(ctx: Pick<PluginContext, 'fire'>) {
    this.#usage = new UsageCounts(ctx);
  }

  async listProjects(db: Db, page: Page): Promise<Listed<Project>> {
    const { items, ...rest } = await selectProjects(db, page);
    return { items: await this.#usage.toProjects(db, items), ...rest };
  }

  async requireProject(db: Db, id: string): Promise<Project> {
    return only(await this.#usage.toProjects(db, [await requireProjectRow(db, id)]));
  }

  async projectIdOf(db: Db, nameOrId: string): Promise<string> {
    return ((await findProject(db, { name: nameOrId })) ?? (await requireProjectRow(db, nameOrId))).id;
  }

  names(db: Db, level: PlacementLevel, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return namesById(db, `${level}s`, ids);
  }

  async createProject(db: Db, fields: ProjectFields, at: number): Promise<Project> {
    refuseIdAsName(fields.name);
    const row = await insertProject(db, fields, at);
    return row
      ? { ...row, run_count: 0 }
      : fail('conflict', `there is a project named "${fields.name}" already`);
  }

  async updateProject(db: Db, id: string, change: Partial<ProjectFields>): Promise<Project> {
    refuseIdAsName(change.name);
    return db.transaction(async (trx) => {
      const row = await requireProjectRow(trx, id, 'update');
      await update(trx, 'projects', row.id, change, `there is a project named "${change.name}" already`);
      return this.requireProject(trx, row.id);
    });
  }

  async deleteProject(db: Db, id: string): Promise<Project> {
    return db.transaction(async (trx) => {
      const row = await requireProjectRow(trx, id, 'update');
      const experiments = await trx('experiments')
        .where({ project_id: row.id })
        .count({ count: '*' })
        .first();
      await this.#usage.refuseUnlessEmpty(trx, 'project', row, {
        experiments: Number(experiments?.['count']),
      });
      await trx('projects').where({ id: row.id }).delete();
      return { ...row, run_count: 0 };
    });
  }

  async listExperiments(db: Db, projectId: string | null, page: Page): Promise<Listed<Experiment>> {
    const within = projectId === null ? null : (await requireProjectRow(db, projectId)).id;
    const { items, ...rest } = await selectExperiments(db, within, page);
    return { items: await this.#usage.toExperiments(db, items), ...rest };
  }

  async requireExperiment(db: Db, id: string): Promise<Experiment> {
    return only(await this.#usage.toExperiments(db, [await requireExperimentRow(db, id)]));
  }

  async createExperiment(
    db: Db,
    { name, description, project_id: wanted }: NewExperiment,
    at: number,
  ): Promise<Experiment> {
    refuseIdAsName(name);
    return db.transaction(async (trx) => {
      const project = await (wanted === null
        ? resolveProject(trx, DEFAULT_PROJECT, at)
        : requireProjectRow(trx, wanted, 'share'));
      const row = await insertExperiment(trx, { project_id: project.id, name, description }, at);
      return row ? { ...row, run_count: 0 } : fail('conflict', toTaken(name, project.name));
    });
  }

  /** A change of the project takes the experiment's runs and jobs with it. */
  async updateExperiment(db: Db, id: string, change: Partial<ExperimentFields>): Promise<Experiment> {
    refuseIdAsName(change.name);
    return db.transaction(async (trx) => {
      const row = await requireExperimentRow(trx, id, 'update');
      const project = await requireProjectRow(trx, change.project_id ?? row.project_id, 'share');
      const canonical = { ...change, project_id: project.id };
      await update(trx, 'experiments', row.id, canonical, toTaken(change.name ?? row.name, project.name));
      if (project.id !== row.project_id) await this.#usage.move(trx, row.id, project.id);
      return this.requireExperiment(trx, row.id);
    });
  }

  async deleteExperiment(db: Db, id: string): Promise<Experiment> {
    return db.transaction(async (trx) => {
      const row = await requireExperimentRow(trx, id, 'update');
      await this.#usage.refuseUnlessEmpty(trx, 'experiment', row);
      await trx('experiments').where({ id: row.id }).delete();
      return { ...row, run_count: 0 };
    });
  }
}

async function update(
  db: Db,
  table: string,
  id: string,
  change: object,
  takenMessage: string,
): Promise<void> {
  if (Object.keys(change).length === 0) return;
  try {
    await db(table).where({ id }).update(change);
  } catch (cause) {
    if (isUniqueViolation(cause)) fail('conflict', takenMessage);
    throw cause;
  }
}

function toTaken(name: string, project: string): string {
  return `there is an experiment named "${name}" in the project "${project}" already`;
}

/** A job names its project by name or by id: a name that looks like an id could not be referred to. */
function refuseIdAsName(name: string | undefined): void {
  if (name === undefined || !looksLikeId(name)) return;
  failValidation({ path: 'name', message: 'must not look like an identifier' });
}

function only<T>(records: readonly T[]): T {
  return records[0] as T;
}
