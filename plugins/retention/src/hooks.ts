import type { GarbageReport } from '@svc/contract';
import { decision } from '@svc/kernel';

export interface OrphanOrder {
  /** Only what is older, in ms since the epoch. */
  readonly before: number;
  /** Nothing is removed. */
  readonly dryRun: boolean;
}

/** Removes what belongs to nothing any more and no table shows, such as files; each tap returns what it has counted. */
export const removeOrphans = decision.gather<[order: OrphanOrder], Partial<GarbageReport['orphans']>>(
  'retention.removeOrphans',
);
