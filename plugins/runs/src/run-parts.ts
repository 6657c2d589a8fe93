import type { Run } from '@svc/contract';
import type { Change, Tx } from '@svc/kernel';
import type { Auth } from '@svc/plugin-auth';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { Projects } from '@svc/plugin-projects';

/** The services that the functions on runs need. */
export interface RunParts {
  readonly auth: Auth;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly projects: Projects;
  /** Fires `runChanged` once the transaction has committed, without waiting for the taps. */
  readonly changed: (tx: Tx, change: Change<Run>) => void;
}
