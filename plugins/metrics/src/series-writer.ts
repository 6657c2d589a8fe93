import { TREND_WINDOW } from '@svc/signals';
import { appendPoints, decodePoints, encodePoints } from './chunk-codec.js';
import { addPoint, digestOf, emptyDigest, mergeDigest, type DigestPoint } from './digest.js';
import type { Chunk, NewSeries, PointRows, SeriesRow } from './point-rows.js';
import { comparePoints, type Point } from './point.js';

/** The number of points of a full chunk. */
export const CHUNK_POINTS = 1024;
/** The tail is moved to chunks in multiples of this: it stays small, as each batch rewrites it. */
const SEALED_AT_ONCE = CHUNK_POINTS / 4;
/** The tail keeps at least the window of the trend, so that a summary reads no chunk. */
const TAIL_POINTS = SEALED_AT_ONCE + TREND_WINDOW;

/** A series that does not exist yet. */
export function newSeries(name: string): NewSeries {
  return { name, digest: emptyDigest(), tail_count: 0, tail: encodePoints([]) };
}

/** A series that does not exist yet, with its first points; null when these do not fit in a tail. */
export function toWholeSeries(name: string, points: readonly Point[]): NewSeries | null {
  if (points.length >= TAIL_POINTS) return null;
  const ordered = points.length === 1 ? points : points.toSorted(comparePoints);
  return { name, digest: digestOf(ordered), tail_count: points.length, tail: encodePoints(ordered) };
}

/**
 * Adds points that the series does not have. Points after the last one are appended to the tail, whose oldest points move to chunks when it
 * grows too long. Late points are inserted at their position, so that a series is always stored in order.
 */
export async function addToSeries(
  rows: PointRows,
  series: SeriesRow,
  points: readonly Point[],
): Promise<SeriesRow> {
  const ordered = points.toSorted(comparePoints);
  const { last } = series.digest;
  const isInOrder = last === null || comparePoints(last, ordered[0] as Point) < 0;
  const grown = isInOrder ? await append(rows, series, ordered) : await insert(rows, series, ordered);
  for (const point of ordered) addPoint(grown.digest, point);
  return grown;
}

/** Removes points from the stored series; the answer is what is to be stored of it besides its chunks. Unchanged when none would be left. */
export async function withoutPoints(
  rows: PointRows,
  series: SeriesRow,
  isRemoved: (point: Point) => boolean,
): Promise<SeriesRow> {
  const chunks = hasChunks(series) ? await rows.chunkHeads(series.id) : [];
  const kept: Point[] = [];
  for (const { position } of chunks) {
    const points = decodePoints(await rows.chunkData(series.id, position));
    kept.push(...points.filter((point) => !isRemoved(point)));
  }
  kept.push(...decodePoints(series.tail).filter((point) => !isRemoved(point)));
  if (kept.length === 0 || kept.length === series.digest.count) return series;
  for (const { position } of chunks) await rows.deleteChunk(series.id, position);
  const digest = digestOf(kept);
  const empty = { ...series, digest: emptyDigest(), tail_count: 0, tail: encodePoints([]) };
  return { ...(await withTail(rows, empty, kept)), digest };
}

async function append(rows: PointRows, series: SeriesRow, points: readonly Point[]): Promise<SeriesRow> {
  const { last } = series.digest;
  const tail_count = series.tail_count + points.length;
  if (last === null || tail_count >= TAIL_POINTS)
    return withTail(rows, series, [...decodePoints(series.tail), ...points]);
  return { ...series, tail: appendPoints(series.tail, last, points), tail_count };
}

async function insert(rows: PointRows, series: SeriesRow, points: readonly Point[]): Promise<SeriesRow> {
  const tail = decodePoints(series.tail);
  const isBeforeTail = (point: Point) => hasChunks(series) && comparePoints(point, tail[0] as Point) < 0;
  const tailStart = points.findIndex((point) => !isBeforeTail(point));
  const late = tailStart < 0 ? points : points.slice(0, tailStart);
  await insertBeforeTail(rows, series.id, late);
  const merged = [...tail, ...points.slice(late.length)].sort(comparePoints);
  return withTail(rows, series, merged);
}

function hasChunks({ digest, tail_count }: SeriesRow): boolean {
  return digest.count > tail_count;
}

/** Inserts chunk by chunk: the points that belong in the chunk around the first of them, then the rest. */
async function insertBeforeTail(rows: PointRows, seriesId: number, points: readonly Point[]): Promise<void> {
  let rest = points;
  while (rest.length > 0) {
    const around = await rows.chunkAround(seriesId, rest[0] as Point);
    if (!around) throw new Error(`series ${seriesId} has points before its tail but no chunk`);
    const next = await rows.chunkAfter(seriesId, around.position);
    const end = next === null ? -1 : rest.findIndex((point) => comparePoints(point, next) >= 0);
    const own = end < 0 ? rest : rest.slice(0, end);
    const merged = [...decodePoints(around.data), ...own].sort(comparePoints);
    await rows.deleteChunk(seriesId, around.position);
    await rows.insertChunks(seriesId, cut(merged, 2 * CHUNK_POINTS));
    rest = rest.slice(own.length);
  }
}

/** Sets the points after the chunks. If these are too many for a tail, the oldest ones fill up the last chunk, then new chunks. */
async function withTail(rows: PointRows, series: SeriesRow, points: readonly Point[]): Promise<SeriesRow> {
  const sealedCount = points.length < TAIL_POINTS ? 0 : toSealed(points.length - TREND_WINDOW);
  if (sealedCount > 0) await seal(rows, series, points.slice(0, sealedCount));
  const tail = points.slice(sealedCount);
  return { ...series, tail: encodePoints(tail), tail_count: tail.length };
}

function toSealed(surplus: number): number {
  return surplus - (surplus % SEALED_AT_ONCE);
}

async function seal(rows: PointRows, series: SeriesRow, points: readonly Point[]): Promise<void> {
  const last = hasChunks(series) ? await rows.lastChunk(series.id) : null;
  const room = last ? Math.max(0, CHUNK_POINTS - last.digest.count) : 0;
  if (last && room > 0) await rows.updateChunk(series.id, grow(last, points.slice(0, room)));
  await rows.insertChunks(series.id, cut(points.slice(room), CHUNK_POINTS));
}

function grow({ position, digest, data }: Chunk, points: readonly Point[]): Chunk {
  const grown = digestOf(points);
  const { last } = digest;
  mergeDigest(grown, digest);
  return { position, digest: grown, data: appendPoints(data, last as DigestPoint, points) };
}

/** Chunks of CHUNK_POINTS; the last one takes what is left, up to `lastLimit`. */
function cut(points: readonly Point[], lastLimit: number): Chunk[] {
  const chunks: Chunk[] = [];
  let start = 0;
  while (start < points.length) {
    const end = points.length - start <= lastLimit ? points.length : start + CHUNK_POINTS;
    chunks.push(toChunk(points.slice(start, end)));
    start = end;
  }
  return chunks;
}

function toChunk(points: readonly Point[]): Chunk {
  const { step, seq } = points[0] as Point;
  return { position: { step, seq }, digest: digestOf(points), data: encodePoints(points) };
}
