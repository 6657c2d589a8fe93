import type { Run } from '@svc/contract';
import type { Change, Tx } from '@svc/kernel';
import type { Auth } from '@svc/plugin-auth';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { Projects } from '@svc/plugin-projects';

/** What runs are made of. */
export interface RunParts {
  readonly auth: Auth;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly projects: Projects;
  /** Tells the observers of `runChanged` once the transaction has committed. Nobody waits for them. */
  readonly changed: (tx: Tx, change: Change<Run>) => void;
}
