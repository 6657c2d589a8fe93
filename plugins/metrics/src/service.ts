import type { Run, RunSummary, SeriesByName } from '@svc/contract';
import { serviceRef } from '@svc/kernel';
import type { PointPage } from './point-pages.js';

export type { PointPage } from './point-pages.js';
export type { Point } from './point.js';
import type { PointsWrite, PointsWritten } from './point-writer.js';

/** Which points of a run; bounds are inclusive. */
export interface SeriesQuery {
  /** Left out: every metric of the run. Names without points are left out of the answer. */
  readonly names?: readonly string[] | undefined;
  readonly step_from?: number | undefined;
  readonly step_to?: number | undefined;
  /** Only points whose `ts` is at or after this, in ms since the epoch. */
  readonly ts_from?: number | undefined;
  /** At most so many points per series: more are thinned. */
  readonly limit: number;
}

export interface Metrics {
  /** Stores points of a run that may have them and tells of the new ones; resolves after the commit. Throws as `metrics:batch` answers. */
  write(batch: PointsWrite): Promise<PointsWritten>;
  /** Series by name. `runId` in canonical form. */
  series(runId: string, query: SeriesQuery): Promise<SeriesByName>;
  /** Every point in the order (name, step, seq), in constant memory. `names` null: of every metric. `runId` in canonical form. */
  points(runId: string, names: readonly string[] | null): AsyncIterable<PointPage>;
  summary(run: Run): Promise<RunSummary>;
}

export const metricsRef = serviceRef<Metrics>('metrics');
