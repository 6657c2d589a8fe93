import type { Run, RunSummary } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
import type { DigestPoint } from './digest.js';
import type { PointPage } from './point-pages.js';

export type { PointPage } from './point-pages.js';
export type { Point } from './point.js';
import type { PointsWrite, PointsWritten } from './point-writer.js';
import type { Stretch } from './stretches.js';
import type { RunSigns } from './summary.js';

export type { Stretch } from './stretches.js';
export type { LongestSeries, RunSigns } from './summary.js';

/** The last point, and the extremes among the finite values: the first of equal ones. null without such a point. */
export interface Extremes {
  readonly last: DigestPoint | null;
  readonly min: DigestPoint | null;
  readonly max: DigestPoint | null;
}

export interface Metrics {
  /** Stores points of a run and publishes the new ones; resolves after the commit. Throws the errors of `metrics:batch`. */
  write(batch: PointsWrite): Promise<PointsWritten>;
  /** Removes the points of a metric with this seq or a higher one, unless it has no others. Writing them again stores nothing. */
  remove(runId: string, name: string, fromSeq: number): Promise<void>;
  /** Every point in the order (name, step, seq), in constant memory. `names` null: of every metric. `runId` in canonical form. */
  points(runId: string, names: readonly string[] | null): AsyncIterable<PointPage>;
  /** How many points the runs have, together, with those that were removed. */
  count(db: Db, runIds: readonly string[]): Promise<number>;
  summary(run: Run): Promise<RunSummary>;
  /** The summary with the evidence for its health, and the last points. */
  signs(run: Run): Promise<RunSigns>;
  /** Of one metric, by the ids of those of these runs that have it. Ids in canonical form. */
  extremes(runIds: readonly string[], name: string): Promise<ReadonlyMap<string, Extremes>>;
  /** Of one metric of a run, in each of these stretches, which come by step and do not overlap. */
  extremesWithin(runId: string, name: string, stretches: readonly Stretch[]): Promise<Extremes[]>;
}

export const metricsRef = serviceRef<Metrics>('metrics');
