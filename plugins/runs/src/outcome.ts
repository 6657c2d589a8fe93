import type { EventRecord, Run } from '@svc/contract';
import type { Change } from '@svc/kernel';

/** What a transaction did to runs: told to others once it has committed. */
export interface Outcome {
  readonly changes: readonly Change<Run>[];
  readonly events: readonly EventRecord[];
}

export const NOTHING: Outcome = { changes: [], events: [] };
