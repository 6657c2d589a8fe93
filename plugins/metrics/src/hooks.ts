import type { MetricPoint } from '@svc/contract';
import { observation } from '@svc/kernel';

export type PointBatch = { readonly run_id: string; readonly points: readonly MetricPoint[] };

/** Fired after the commit with the new points of a batch. */
export const pointsAppended = observation<[batch: PointBatch]>('metrics.pointsAppended');
