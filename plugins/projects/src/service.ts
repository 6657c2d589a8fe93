import type { Experiment, Project } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
import type { PlacementLevel } from './hooks.js';

/** How a caller names a project and an experiment: each by name or by id, both optional. */
export interface PlacementInput {
  readonly project?: string | null | undefined;
  readonly experiment?: string | null | undefined;
}

/** Where a job or run belongs; `project` and `experiment` are the names that go with the ids. All null: nowhere. */
export interface ResolvedPlacement {
  readonly project_id: string | null;
  readonly experiment_id: string | null;
  readonly project: string | null;
  readonly experiment: string | null;
}

export interface Projects {
  /**
   * Ids for what the caller named; an unknown name is created at `at` (ms). Call it in the transaction that stores the
   * record: until that ends, the project and experiment cannot be deleted.
   * Throws not_found for an unknown id, validation_error for an experiment of another project.
   */
  resolve(db: Db, input: PlacementInput, at: number): Promise<ResolvedPlacement>;
  /** Any form of id; throws not_found. */
  requireProject(db: Db, id: string): Promise<Project>;
  requireExperiment(db: Db, id: string): Promise<Experiment>;
  /** Of the project of that name, or of any form of id; throws not_found. */
  projectIdOf(db: Db, nameOrId: string): Promise<string>;
  /** Of those of these that exist, at most 1000. Ids in canonical form. */
  names(db: Db, level: PlacementLevel, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Tables `projects(id)` and `experiments(id)` may be referenced by the foreign keys of plugins that require this one. */
export const projectsRef = serviceRef<Projects>('projects');
