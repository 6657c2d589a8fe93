import type { BestCheckpoint, Checkpoint, ListedCheckpoint } from '@svc/contract';
import { checkpoint, idOf } from './records.js';

/** As the list of all runs has them: no best one is marked there. */
export function plainCheckpoint(number: number, changes: Partial<ListedCheckpoint> = {}): Checkpoint {
  const { is_best: _isBest, ...record } = checkpoint(number, changes);
  return record;
}

/** By what its training logged 20 steps before it was saved. */
export function bestCheckpoint(number: number, changes: Partial<BestCheckpoint> = {}): BestCheckpoint {
  return {
    checkpoint_id: idOf('ckpt', number),
    checkpoint: plainCheckpoint(number),
    run_id: idOf('run', 1),
    metric: 'val/loss',
    direction: 'minimize',
    value: 0.125,
    step: number * 100,
    value_step: number * 100 - 20,
    source: 'training_fallback',
    evaluation_id: null,
    tied_checkpoint_ids: [idOf('ckpt', number)],
    next_actions: [],
    ...changes,
  };
}
