import { Type, type Static } from 'typebox';
import { Timestamp, nullable, strict } from '../route.js';
import { Evaluation } from './evaluation.js';

export const CheckpointSource = Type.Enum(['sdk', 'watcher', 'api']);
export type CheckpointSource = Static<typeof CheckpointSource>;

export const CHECKPOINT_METADATA_BYTES = 64 * 1024;

/** What the training said of the checkpoint, and under `evaluations` those that have SUCCEEDED, newest first. */
export const CheckpointMetadata = Type.Object(
  { evaluations: Type.Array(Evaluation) },
  { additionalProperties: true },
);

/**
 * A file or directory on an agent host. `size` in bytes. `deleted_at`: when it was found to be gone; null while it is there, or nobody has looked.
 */
export const Checkpoint = strict(
  {
    id: Type.String(),
    run_id: Type.String(),
    step: nullable(Type.Integer()),
    epoch: nullable(Type.Number()),
    size: nullable(Type.Integer()),
    path: Type.String(),
    metadata: CheckpointMetadata,
    source: CheckpointSource,
    created_at: Timestamp,
    deleted_at: nullable(Timestamp),
  },
  { $id: 'Checkpoint' },
);
export type Checkpoint = Static<typeof Checkpoint>;

/** `is_best`: it is the one that `checkpoints:recommend` names for its run. */
export const ListedCheckpoint = strict(
  { ...Checkpoint.properties, is_best: Type.Boolean() },
  { $id: 'ListedCheckpoint' },
);
export type ListedCheckpoint = Static<typeof ListedCheckpoint>;
