import type { Run } from '@svc/contract';
import { serviceRef, type Caller, type Db } from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';

/** How far a run has come: the highest seen of each; null leaves what stands. */
export interface RunProgress {
  readonly step: number | null;
  readonly epoch: number | null;
}

export interface Runs {
  /** `id` in canonical form. */
  get(db: Db, id: string): Promise<Run | null>;
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<Run>;
  /** The run that the caller may write points, events and checkpoints of. Any form of id; throws not_found, forbidden. */
  requireIngest(caller: Caller, id: string): Promise<Run>;
  /** As requireIngest, but cheap: what of a run decides, and never changes. For the hot path. */
  requireTarget(caller: Caller, id: string): Promise<IngestTarget>;
  /** Raises `step` and `epoch` of the run within the given transaction; they never fall. `id` in canonical form. */
  touchProgress(db: Db, id: string, progress: RunProgress): Promise<void>;
}

/** The table `runs(id)` may be referenced by the foreign keys of plugins that require this one. */
export const runsRef = serviceRef<Runs>('runs');
