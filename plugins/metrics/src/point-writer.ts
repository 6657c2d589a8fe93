import type { MetricPoint } from '@svc/contract';
import { failValidation } from '@svc/kernel';
import type { PointRows, RunRow, SeriesRow } from './point-rows.js';
import { fromMetricValue, type Point } from './point.js';
import { addToSeries, newSeries } from './series-writer.js';
import { countOf, isIn, joinRanges, toRanges, type SeqRange } from './seq-ranges.js';

/** So that one run cannot fill the memory of the server or of a browser with names. */
export const MAX_SERIES_PER_RUN = 10_000;

/** A batch on its way to the store. */
export interface PointsWrite {
  readonly run_id: string;
  readonly points: readonly MetricPoint[];
  /** When it came in, in ms: the `ts` of points without one. */
  readonly at: number;
}

/** What became of a batch: the points that were new, with their `ts`, how many were not, and the metrics that the run did not have yet. */
export interface PointsWritten {
  readonly accepted: readonly TimedPoint[];
  readonly duplicates: number;
  readonly created: readonly string[];
}

export type TimedPoint = MetricPoint & { readonly ts: number };

/** Writes one batch within the transaction of `rows`. Throws validation_error before anything is written. */
export async function writePoints(
  rows: PointRows,
  { run_id, points, at }: PointsWrite,
): Promise<PointsWritten> {
  const run = await rows.openRun(run_id, at);
  const accepted = await takeNew(rows, run, points, at);
  const duplicates = points.length - accepted.length;
  if (accepted.length === 0) return { accepted, duplicates, created: [] };
  const created = await addToRun(rows, run, groupByName(accepted));
  await rows.saveRun({
    ...run,
    series_count: run.series_count + created.length,
    received_at: Math.max(run.received_at, at),
  });
  return { accepted, duplicates, created };
}

/** The points whose seq the run does not have yet, each seq once; from now on the run has them. */
async function takeNew(
  rows: PointRows,
  run: RunRow,
  points: readonly MetricPoint[],
  at: number,
): Promise<TimedPoint[]> {
  const incoming = toRanges(points.map(({ seq }) => seq));
  const touching = await rows.rangesTouching(run.key, incoming);
  const joined = joinRanges([...touching, ...incoming]);
  const isEachNew = countOf(joined) === countOf(touching) + points.length;
  const fresh = isEachNew ? points : firstOfEach(points, touching);
  if (fresh.length > 0) await rows.replaceRanges(run.key, touching, joined);
  return fresh.map((point) => (hasTime(point) ? point : { ...point, ts: at }));
}

/** Of each seq that is not in `taken` the first point. */
function firstOfEach(points: readonly MetricPoint[], taken: readonly SeqRange[]): MetricPoint[] {
  const seen = new Set<number>();
  return points.filter(({ seq }) => !isIn(taken, seq) && seen.size < seen.add(seq).size);
}

function hasTime(point: MetricPoint): point is TimedPoint {
  return point.ts !== undefined;
}

function groupByName(points: readonly TimedPoint[]): Map<string, Point[]> {
  const byName = new Map<string, Point[]>();
  for (const { name, step, seq, ts, value, epoch } of points) {
    const point = { step, seq, ts, value: fromMetricValue(value), epoch: epoch ?? null };
    const group = byName.get(name);
    if (group) group.push(point);
    else byName.set(name, [point]);
  }
  for (const name of byName.keys()) refuseHalfCharacters(name);
  return byName;
}

/** A database would store another name than the one given, perhaps that of another metric. */
function refuseHalfCharacters(name: string): void {
  if (/\p{Surrogate}/u.test(name))
    failValidation({ path: 'points', message: `the name ${JSON.stringify(name)} is no valid Unicode` });
}

/** Returns the names of the series that are new. */
async function addToRun(
  rows: PointRows,
  run: RunRow,
  byName: ReadonlyMap<string, Point[]>,
): Promise<string[]> {
  const known = await rows.findSeries(run.key, [...byName.keys()]);
  const knownNames = new Set(known.map(({ name }) => name));
  const created = [...byName.keys()].filter((name) => !knownNames.has(name)).map(newSeries);
  refuseTooMany(run, created.length);
  const ids = await rows.insertSeries(run.key, created);
  const grown: SeriesRow[] = [];
  for (const series of [
    ...known,
    ...created.map((fresh, index) => ({ ...fresh, id: ids[index] as number })),
  ]) {
    grown.push(await addToSeries(rows, series, byName.get(series.name) as Point[]));
  }
  await rows.updateSeries(grown);
  return created.map(({ name }) => name);
}

function refuseTooMany(run: RunRow, createdCount: number): void {
  if (createdCount === 0 || run.series_count + createdCount <= MAX_SERIES_PER_RUN) return;
  const message = `a run has at most ${MAX_SERIES_PER_RUN} metrics; this one has ${run.series_count} and the batch adds ${createdCount}. A name must not hold what changes from point to point, such as a step or an id`;
  failValidation({ path: 'points', message });
}
