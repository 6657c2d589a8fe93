import { appendPoints, decodePoints, encodePoints } from './chunk-codec.js';
import { addPoint, digestOf, emptyDigest, type Mark } from './digest.js';
import type { Chunk, NewSeries, PointRows, SeriesRow } from './point-rows.js';
import { comparePoints, type Point } from './point.js';
import { TREND_WINDOW } from './trend.js';

/** A sealed chunk: about 3.5 KB, so that appending to a tail rewrites no more than a page. */
export const CHUNK_POINTS = 256;
/** The tail keeps at least the window of the trend, so that a summary reads no chunk. */
const TAIL_POINTS = CHUNK_POINTS + TREND_WINDOW;

/** A series that does not exist yet. */
export function newSeries(name: string): NewSeries {
  return { name, digest: emptyDigest(), tail_count: 0, tail: encodePoints([]) };
}

/**
 * Adds points that the series does not have. In order, they are appended to the tail; a tail that grows too long gives up its oldest points as
 * sealed chunks. Late ones go where they belong, so that a series lies in one order however it came in.
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
    await rows.insertChunks(seriesId, cut(merged));
    rest = rest.slice(own.length);
  }
}

async function sealOldest(rows: PointRows, series: SeriesRow): Promise<SeriesRow> {
  const points = decodePoints(series.tail);
  const sealedCount = points.length - TREND_WINDOW - ((points.length - TREND_WINDOW) % CHUNK_POINTS);
  await rows.insertChunks(series.id, cut(points.slice(0, sealedCount)));
  const tail = points.slice(sealedCount);
  return { ...series, tail: encodePoints(tail), tail_count: tail.length };
}

/** Chunks of CHUNK_POINTS; what is left over stays with the last one while that is less than twice as long. */
function cut(points: readonly Point[]): Chunk[] {
  const chunks: Chunk[] = [];
  let start = 0;
  while (start < points.length) {
    const isRest = points.length - start < 2 * CHUNK_POINTS;
    const piece = points.slice(start, isRest ? points.length : start + CHUNK_POINTS);
    chunks.push(toChunk(piece));
    start += piece.length;
  }
  return chunks;
}

function toChunk(points: readonly Point[]): Chunk {
  const { step, seq } = points[0] as Point;
  return { place: { step, seq }, digest: digestOf(points), data: encodePoints(points) };
}
