import type { NodeSeries } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

export interface NodeMetrics {
  /** The series of these metrics from that time on, not thinned; one that was not measured is left out. `nodeId` in canonical form, `from` in ms. */
  series(nodeId: string, names: ReadonlySet<string>, from: number): Promise<Record<string, NodeSeries>>;
}

export const nodeMetricsRef = serviceRef<NodeMetrics>('node-metrics');
