import type { BodyOf, Run, RunStatus, routes } from '@svc/contract';
import { serviceRef, type Caller, type Db } from '@svc/kernel';
import type { IngestTarget } from '@svc/plugin-auth';

/** How far a run has come: the highest seen of each; null leaves what stands. */
export interface RunProgress {
  readonly step: number | null;
  readonly epoch: number | null;
}

/** The runs that are handed out have their config and environment as lists show them: of large ones a part. */
export interface Runs {
  /** `id` in canonical form. */
  get(db: Db, id: string): Promise<Run | null>;
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<Run>;
  /** The run that the caller may write points, events and checkpoints of. Any form of id; throws not_found, forbidden. */
  requireIngest(caller: Caller, id: string): Promise<Run>;
  /** As requireIngest, but cheap: what of a run decides, and never changes. For the hot path. */
  requireTarget(caller: Caller, id: string): Promise<IngestTarget>;
  /** The node whose process was given that run with its attempt; null for a run that a training made itself. `id` in canonical form. */
  nodeOf(db: Db, id: string): Promise<string | null>;
  /** Changes what the training says of its run. Any form of id; throws not_found, forbidden. */
  update(caller: Caller, id: string, fields: BodyOf<typeof routes.updateRun>): Promise<Run>;
  /** Ends the run; the same status again is nothing new. Throws conflict when it has ended otherwise, not_found, forbidden. */
  finish(caller: Caller, id: string, status: RunStatus): Promise<Run>;
  /** Raises `step` and `epoch` of the run within the given transaction; they never fall. `id` in canonical form. */
  touchProgress(db: Db, id: string, progress: RunProgress): Promise<void>;
}

/** The table `runs(id)` may be referenced by the foreign keys of plugins that require this one. */
export const runsRef = serviceRef<Runs>('runs');
