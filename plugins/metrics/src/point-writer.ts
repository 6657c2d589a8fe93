import { fromMetricValue, type MetricPoint } from '@svc/contract';
import { failValidation, yieldToEventLoop } from '@svc/kernel';
import type { PointRows, RunRow, SeriesRow } from './point-rows.js';
import type { Point } from './point.js';
import { addToSeries, newSeries, toWholeSeries } from './series-writer.js';
import { countOf, isIn, joinRanges, toRanges, type SeqRange } from './seq-ranges.js';

/** Bounds the memory that the names of one run take in the server and in a browser. */
export const MAX_SERIES_PER_RUN = 10_000;
/** After this many series the writer yields to the event loop. */
const SERIES_PER_SLICE = 1000;

/** A batch of points to be written. */
export interface PointsWrite {
  readonly run_id: string;
  readonly points: readonly MetricPoint[];
  /** When it came in, in ms: the `ts` of points without one. */
  readonly at: number;
}

/** The result of a batch: the new points with their `ts`, the number of duplicates, and the names of metrics that are new to the run. */
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
  const accepted = await acceptNew(rows, run, points, at);
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

/** Returns the points whose seq is new to the run, each seq once, and stores these seqs. */
async function acceptNew(
  rows: PointRows,
  run: RunRow,
  points: readonly MetricPoint[],
  at: number,
): Promise<TimedPoint[]> {
  const incoming = toRanges(points.map(({ seq }) => seq));
  const touching = await rows.rangesTouching(run.key, incoming);
  const joined = joinRanges([...touching, ...incoming]);
  const areAllNew = countOf(joined) === countOf(touching) + points.length;
  const fresh = areAllNew ? points : firstOfEach(points, touching);
  if (fresh.length > 0) await rows.replaceRanges(run.key, touching, joined);
  return fresh.map((point) => (hasTime(point) ? point : { ...point, ts: at }));
}

/** The first point of each seq that is not in `taken`. */
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

/** A database would replace half a surrogate pair, which could give the name of another metric. */
function refuseHalfCharacters(name: string): void {
  if (/\p{Surrogate}/u.test(name))
    failValidation({ path: 'points', message: `the name ${JSON.stringify(name)} is no valid Unicode` });
}

/** Returns the names of the new series. It yields to the event loop between two slices, but keeps the transaction. */
async function addToRun(
  rows: PointRows,
  run: RunRow,
  byName: ReadonlyMap<string, Point[]>,
): Promise<string[]> {
  const known: SeriesRow[] = [];
  for await (const names of slicesOf([...byName.keys()]))
    known.push(...(await rows.findSeries(run.key, names)));
  const knownNames = new Set(known.map(({ name }) => name));
  const created = [...byName.keys()].filter((name) => !knownNames.has(name));
  refuseTooMany(run, created.length);
  for await (const series of slicesOf(known)) await grow(rows, series, byName);
  for await (const names of slicesOf(created))
    await grow(rows, await create(rows, run, names, byName), byName);
  return created;
}

async function* slicesOf<T>(all: readonly T[]): AsyncGenerator<readonly T[], undefined> {
  for (let start = 0; start < all.length; start += SERIES_PER_SLICE) {
    if (start > 0) await yieldToEventLoop();
    yield all.slice(start, start + SERIES_PER_SLICE);
  }
}

/** Series with few points are stored with their points; the others are stored without points and returned. */
async function create(
  rows: PointRows,
  run: RunRow,
  names: readonly string[],
  byName: ReadonlyMap<string, Point[]>,
): Promise<SeriesRow[]> {
  const series = names.map((name) => toWholeSeries(name, byName.get(name) as Point[]) ?? newSeries(name));
  const ids = await rows.insertSeries(run.key, series);
  return series
    .map((fresh, index) => ({ ...fresh, id: ids[index] as number }))
    .filter(({ tail_count }) => tail_count === 0);
}

async function grow(
  rows: PointRows,
  series: readonly SeriesRow[],
  byName: ReadonlyMap<string, Point[]>,
): Promise<void> {
  const grown: SeriesRow[] = [];
  for (const one of series) grown.push(await addToSeries(rows, one, byName.get(one.name) as Point[]));
  if (grown.length > 0) await rows.updateSeries(grown);
}

function refuseTooMany(run: RunRow, createdCount: number): void {
  if (createdCount === 0 || run.series_count + createdCount <= MAX_SERIES_PER_RUN) return;
  const message = `a run has at most ${MAX_SERIES_PER_RUN} metrics; this one has ${run.series_count} and the batch adds ${createdCount}. A name must not hold what changes from point to point, such as a step or an id`;
  failValidation({ path: 'points', message });
}
