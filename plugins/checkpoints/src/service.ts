import type { BodyOf, Checkpoint, CheckpointSource, Run, routes } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

export type CheckpointDraft = BodyOf<typeof routes.createCheckpoint>;

export interface Registered {
  readonly checkpoint: Checkpoint;
  /** False when a checkpoint with this path and step exists; that one is returned. */
  readonly isNew: boolean;
}

export interface Checkpoints {
  /**
   * Registers a checkpoint of the run and appends its event, in its own transaction. `at`: when it was saved, in ms; default now.
   * Throws validation_error.
   */
  register(run: Run, draft: CheckpointDraft, source: CheckpointSource, at?: number): Promise<Registered>;
}

/** The table `checkpoints(id)` may be referenced by the foreign keys of plugins that require this one. */
export const checkpointsRef = serviceRef<Checkpoints>('checkpoints');
