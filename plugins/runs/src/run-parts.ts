import type { Auth } from '@svc/plugin-auth';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { Projects } from '@svc/plugin-projects';

/** The services that runs are made of. */
export interface RunParts {
  readonly auth: Auth;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly projects: Projects;
}
