import type { NodeSnapshot } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

export interface NodeMetrics {
  /** The newest value of each metric of the last 60 s; empty for a node that is silent or unknown. */
  snapshot(nodeId: string): NodeSnapshot;
}

export const nodeMetricsRef = serviceRef<NodeMetrics>('node-metrics');
