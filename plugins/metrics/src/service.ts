import type { Run, RunSummary } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
import type { PointPage } from './point-pages.js';

export type { PointPage } from './point-pages.js';
export type { Point } from './point.js';
import type { PointsWrite, PointsWritten } from './point-writer.js';

export interface Metrics {
  /** Stores points of a run and publishes the new ones; resolves after the commit. Throws the errors of `metrics:batch`. */
  write(batch: PointsWrite): Promise<PointsWritten>;
  /** Every point in the order (name, step, seq), in constant memory. `names` null: of every metric. `runId` in canonical form. */
  points(runId: string, names: readonly string[] | null): AsyncIterable<PointPage>;
  /** How many points the runs have, together. */
  count(db: Db, runIds: readonly string[]): Promise<number>;
  summary(run: Run): Promise<RunSummary>;
}

export const metricsRef = serviceRef<Metrics>('metrics');
