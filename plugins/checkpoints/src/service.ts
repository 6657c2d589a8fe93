import type { BodyOf, Checkpoint, CheckpointSource, Run, routes } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

export type CheckpointDraft = BodyOf<typeof routes.createCheckpoint>;

export interface Registered {
  readonly checkpoint: Checkpoint;
  /** False: the path and step were registered before, and that record stands. */
  readonly isNew: boolean;
}

export interface Checkpoints {
  /**
   * Registers a checkpoint of the run and tells of it, in a transaction of its own. `at`: when it was saved, in ms; left out: now.
   * Throws validation_error.
   */
  register(run: Run, draft: CheckpointDraft, source: CheckpointSource, at?: number): Promise<Registered>;
}

/** The table `checkpoints(id)` may be referenced by the foreign keys of plugins that require this one. */
export const checkpointsRef = serviceRef<Checkpoints>('checkpoints');
