import { appendPoints, decodePoints, encodePoints } from './chunk-codec.js';
import { addPoint, digestOf, emptyDigest, mergeDigest, type Mark } from './digest.js';
import type { Chunk, NewSeries, PointRows, SeriesRow } from './point-rows.js';
import { comparePoints, type Point } from './point.js';
import { TREND_WINDOW } from './trend.js';

/** A full chunk: what a thinned answer looks at as one. */
export const CHUNK_POINTS = 1024;
/** So many points leave the tail at once: it stays within a page, which is what each batch rewrites of a series. */
const SEALED_AT_ONCE = CHUNK_POINTS / 4;
/** The tail keeps at least the window of the trend, so that a summary reads no chunk. */
const TAIL_POINTS = SEALED_AT_ONCE + TREND_WINDOW;

/** A series that does not exist yet. */
export function newSeries(name: string): NewSeries {
  return { name, digest: emptyDigest(), tail_count: 0, tail: encodePoints([]) };
}

/**
 * Adds points that the series does not have. In order, they are appended to the tail; a tail that grows too long gives up its oldest points
 * to chunks. Late ones go where they belong, so that a series lies in one order however it came in.
 */
export async function addToSeries(
  rows: PointRows,
  series: SeriesRow,
  points: readonly Point[],
): Promise<SeriesRow> {
  const ordered = points.toSorted(comparePoints);
  const { last } = series.digest;
  const isInOrder = last === null || comparePoints(last, ordered[0] as Point) < 0;
  const grown = isInOrder ? append(series, last, ordered) : await insert(rows, series, ordered);
  for (const point of ordered) addPoint(grown.digest, point);
  return grown.tail_count < TAIL_POINTS ? grown : sealOldest(rows, grown);
}

function append(series: SeriesRow, last: Mark | null, points: readonly Point[]): SeriesRow {
  const tail = last === null ? encodePoints(points) : appendPoints(series.tail, last, points);
  return { ...series, tail, tail_count: series.tail_count + points.length };
}

async function insert(rows: PointRows, series: SeriesRow, points: readonly Point[]): Promise<SeriesRow> {
  const tail = decodePoints(series.tail);
  const hasChunks = series.digest.count > tail.length;
  const isBeforeTail = (point: Point) => hasChunks && comparePoints(point, tail[0] as Point) < 0;
  const tailStart = points.findIndex((point) => !isBeforeTail(point));
  const late = tailStart < 0 ? points : points.slice(0, tailStart);
  await insertBeforeTail(rows, series.id, late);
  const merged = [...tail, ...points.slice(late.length)].sort(comparePoints);
  return { ...series, tail: encodePoints(merged), tail_count: merged.length };
}

/** Chunk by chunk: the points that belong in the chunk around the first of them, then the rest. */
async function insertBeforeTail(rows: PointRows, seriesId: number, points: readonly Point[]): Promise<void> {
  let rest = points;
  while (rest.length > 0) {
    const around = await rows.chunkAround(seriesId, rest[0] as Point);
    if (!around) throw new Error(`series ${seriesId} has points before its tail but no chunk`);
    const next = await rows.chunkAfter(seriesId, around.place);
    const end = next === null ? -1 : rest.findIndex((point) => comparePoints(point, next) >= 0);
    const own = end < 0 ? rest : rest.slice(0, end);
    const merged = [...decodePoints(around.data), ...own].sort(comparePoints);
    await rows.deleteChunk(seriesId, around.place);
    await rows.insertChunks(seriesId, cut(merged, 2 * CHUNK_POINTS));
    rest = rest.slice(own.length);
  }
}

/** Moves the oldest points of the tail to the last chunk as long as that has room, then to new ones. */
async function sealOldest(rows: PointRows, series: SeriesRow): Promise<SeriesRow> {
  const points = decodePoints(series.tail);
  const surplus = points.length - TREND_WINDOW;
  const sealedCount = surplus - (surplus % SEALED_AT_ONCE);
  const last = series.digest.count > points.length ? await rows.lastChunk(series.id) : null;
  const room = last ? Math.max(0, CHUNK_POINTS - last.digest.count) : 0;
  const filling = Math.min(room, sealedCount);
  if (last && filling > 0) await rows.updateChunk(series.id, grow(last, points.slice(0, filling)));
  await rows.insertChunks(series.id, cut(points.slice(filling, sealedCount), CHUNK_POINTS));
  const tail = points.slice(sealedCount);
  return { ...series, tail: encodePoints(tail), tail_count: tail.length };
}

function grow({ place, digest, data }: Chunk, points: readonly Point[]): Chunk {
  const grown = digestOf(points);
  const { last } = digest;
  mergeDigest(grown, digest);
  return { place, digest: grown, data: appendPoints(data, last as Mark, points) };
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
  return { place: { step, seq }, digest: digestOf(points), data: encodePoints(points) };
}
