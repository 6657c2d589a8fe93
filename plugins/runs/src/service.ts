import type { BodyOf, Run, routes } from '@svc/contract';
import { serviceRef, type Caller, type Db, type Tx } from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';
import type { Destination } from './assigned-runs.js';

/** The progress of a run: the highest step and epoch seen; null leaves the stored value. */
export interface RunProgress {
  readonly step: number | null;
  readonly epoch: number | null;
}

/** Ids in canonical form. `word`: a lower-case part of the name, or of the id. */
export interface RunPlaceFilter {
  readonly project_id?: string | undefined;
  readonly experiment_id?: string | undefined;
  readonly word?: string | undefined;
}

/** The returned runs contain only a part of a large config or environment, as lists do. */
export interface Runs {
  /** The run that the process of an attempt was given on a node, once it is there. Ids in canonical form. */
  givenTo(db: Db, destination: Destination): Promise<Run | null>;
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<Run>;
  /** The run, if the caller may write its points, events and checkpoints. A sign of life of the run. Any form of id; throws not_found, forbidden. */
  requireIngest(caller: Caller, id: string): Promise<Run>;
  /** As requireIngest, for the hot path: returns only the fields that decide who may write, which never change. */
  requireTarget(caller: Caller, id: string): Promise<IngestTarget>;
  /** The node of the attempt that the run was assigned to; null for a run that a training created itself. `id` in canonical form. */
  nodeOf(db: Db, id: string): Promise<string | null>;
  /** `jobId` in canonical form. */
  ofJob(db: Db, jobId: string): Promise<Pick<Run, 'id' | 'status'>[]>;
  /** Those of these runs that exist, at most 500. Ids in canonical form. */
  find(db: Db, ids: readonly string[]): Promise<Run[]>;
  /** `experimentId` in canonical form. */
  idsOfExperiment(db: Db, experimentId: string): Promise<string[]>;
  /** Of runs without a job, as `Jobs.query`. */
  query(db: Db): ReturnType<Db>;
  /** A query of the runs that exist and fit, for `whereExists` on the rows of the caller. `idColumn`: the caller's `table.column` with the id of a run. */
  matching(db: Db, filter: RunPlaceFilter, idColumn: string): ReturnType<Db>;
  /** Whether one of them has the tag. */
  haveTag(db: Db, ids: readonly string[], tag: string): Promise<boolean>;
  /** Changes the fields of the run that the caller may change. Any form of id; throws not_found, forbidden. */
  update(caller: Caller, id: string, fields: BodyOf<typeof routes.updateRun>): Promise<Run>;
  /** Ends the run; may be repeated with the same status. Throws conflict when it has ended with another one, not_found, forbidden. */
  finish(caller: Caller, id: string, end: BodyOf<typeof routes.finishRun>): Promise<Run>;
  /**
   * Which of the runs exist; they do until the given transaction ends. `ids` in canonical form and in order. Whoever writes rows of a run asks
   * this in the same transaction, and so writes none of a run that is being deleted.
   */
  hold(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** From the given transaction on none of the runs exists; their rows are the caller's to remove. `ids` in canonical form. */
  markDeleted(db: Db, ids: readonly string[]): Promise<void>;
  /**
   * Gives up a run that is to be deleted, in the transaction that decides it: its job and the events say so, and it is marked as `markDeleted`
   * does. Returns the whole run. Any form of id; throws not_found, and conflict while something may still report to it.
   */
  giveUp(tx: Tx, id: string): Promise<Run>;
  /** Raises `step` and `epoch` of the run within the given transaction; they never decrease. `id` in canonical form. */
  touchProgress(db: Db, id: string, progress: RunProgress): Promise<void>;
}

/** The table `runs(id)` may be referenced by the foreign keys of plugins that require this one. */
export const runsRef = serviceRef<Runs>('runs');
