import type { PluginContext } from '@svc/kernel';
import type { Checkpoints } from '@svc/plugin-checkpoints';
import type { Evaluations } from '@svc/plugin-evaluations';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { MetricDefinitions } from '@svc/plugin-metric-definitions';
import type { Metrics } from '@svc/plugin-metrics';
import type { Projects } from '@svc/plugin-projects';
import type { Runs } from '@svc/plugin-runs';

/** What a ranking reads. `ctx.db` opens after the setup. */
export interface Parts {
  readonly ctx: Pick<PluginContext, 'db'>;
  readonly projects: Projects;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly metrics: Metrics;
  readonly definitions: MetricDefinitions;
  readonly checkpoints: Checkpoints;
  readonly evaluations: Evaluations;
}
