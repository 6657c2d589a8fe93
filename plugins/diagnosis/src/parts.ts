import type { PluginContext } from '@svc/kernel';
import type { Checkpoints } from '@svc/plugin-checkpoints';
import type { Evaluations } from '@svc/plugin-evaluations';
import type { Events } from '@svc/plugin-events';
import type { Failures } from '@svc/plugin-failures';
import type { Jobs } from '@svc/plugin-jobs';
import type { MetricDefinitions } from '@svc/plugin-metric-definitions';
import type { Metrics } from '@svc/plugin-metrics';
import type { NodeMetrics } from '@svc/plugin-node-metrics';

/** What a diagnosis reads. `ctx.db` opens after the setup. */
export interface Parts {
  readonly ctx: Pick<PluginContext, 'db' | 'clock'>;
  readonly jobs: Jobs;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly definitions: MetricDefinitions;
  readonly failures: Failures;
  readonly checkpoints: Checkpoints;
  readonly evaluations: Evaluations;
  readonly nodeMetrics: NodeMetrics;
}
