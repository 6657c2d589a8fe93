import { decision, type Db } from '@svc/kernel';

export type PlacementLevel = 'project' | 'experiment';

export interface UsageQuery {
  readonly db: Db;
  readonly level: PlacementLevel;
  readonly ids: readonly string[];
  /** Only records of this kind are asked for. */
  readonly noun?: string;
}

export interface Usage {
  /** Plural, as a 409 shows it: `jobs`. What `runs` counts is the `run_count` of the records. */
  readonly noun: string;
  /** The number of records per id; an id without any may be left out. Records of an experiment count for its project too. */
  readonly counts: ReadonlyMap<string, number>;
}

/** How many records a plugin keeps under projects or experiments: for `run_count`, and for the 409 on delete. */
export const countUsage = decision.gather<[query: UsageQuery], Usage>('projects.countUsage');

/** Within the transaction that moves an experiment to another project: its records follow. */
export const moveExperiment =
  decision<[db: Db, experimentId: string, toProjectId: string]>('projects.moveExperiment');
