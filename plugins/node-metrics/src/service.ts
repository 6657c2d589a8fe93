import type { NodeSeries } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

/** Which metrics are wanted: a set of names, or a rule. */
export type MetricNames = Pick<ReadonlySet<string>, 'has'>;

export interface NodeMetrics {
  /** The series of these metrics from that time on, not thinned; one that was not measured is left out. `nodeId` in canonical form, `from` in ms. */
  series(nodeId: string, names: MetricNames, from: number): Promise<Record<string, NodeSeries>>;
  /**
   * The mean over time of each of these metrics of the node, from `from` to `to` (ms). One that was not measured then is left out. Of a long
   * time, parts that are spread evenly over it are read. `nodeId` in canonical form.
   */
  means(
    nodeId: string,
    names: readonly string[],
    from: number,
    to: number,
  ): Promise<ReadonlyMap<string, number>>;
}

export const nodeMetricsRef = serviceRef<NodeMetrics>('node-metrics');
