import type { BodyOf, Checkpoint, CheckpointSource, Run, routes } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';

export type CheckpointDraft = BodyOf<typeof routes.createCheckpoint>;

export interface Registered {
  readonly checkpoint: Checkpoint;
  /** False when a checkpoint with this path and step exists; that one is returned. */
  readonly isNew: boolean;
}

/** What ranks a checkpoint among those of its run. */
export type CheckpointPlace = Pick<Checkpoint, 'id' | 'run_id' | 'step' | 'created_at' | 'deleted_at'>;

/** Without the metadata, which may be large: many may be found. */
export type FoundCheckpoint = CheckpointPlace & Pick<Checkpoint, 'path'>;

export interface Checkpoints {
  /**
   * Registers a checkpoint of the run and appends its event, in its own transaction. One that the watcher found and the training reports is
   * one checkpoint, whoever is first; the training's step and metadata then count. `at`: when it was saved, in ms; default now.
   * Throws validation_error.
   */
  register(run: Run, draft: CheckpointDraft, source: CheckpointSource, at?: number): Promise<Registered>;
  /** The checkpoint at that path of the run is not there any more. `at` in ms. */
  markGone(runId: string, path: string, at: number): Promise<void>;
  /** Without the results of its evaluations. Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<Checkpoint>;
  /** As callers see it, with the results of its evaluations. Any form of id; throws not_found. */
  show(id: string): Promise<Checkpoint>;
  /** Those of these checkpoints that exist. Ids in canonical form. */
  find(db: Db, ids: readonly string[]): Promise<FoundCheckpoint[]>;
  /** Every checkpoint of these runs, by run and oldest first. Ids in canonical form. */
  ofRuns(db: Db, runIds: readonly string[]): Promise<CheckpointPlace[]>;
}

/** The table `checkpoints(id)` may be referenced by the foreign keys of plugins that require this one. */
export const checkpointsRef = serviceRef<Checkpoints>('checkpoints');
