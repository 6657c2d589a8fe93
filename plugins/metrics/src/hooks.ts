import type { MetricPoint } from '@svc/contract';
import { observation } from '@svc/kernel';

export type PointBatch = { readonly run_id: string; readonly points: readonly MetricPoint[] };

/** After commit: the points of a batch that were new. */
export const pointsAppended = observation<[batch: PointBatch]>('metrics.pointsAppended');
