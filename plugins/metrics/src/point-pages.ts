import { yieldIfSliceOver } from '@svc/kernel';
import { decodePoints } from './chunk-codec.js';
import type { PointRows, SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';
import { comparePoints, type Position, type Point } from './point.js';
import { seriesPagesOf } from './series-pages.js';

/** Consecutive points of one series; never empty. */
export interface PointPage {
  readonly name: string;
  readonly points: readonly Point[];
}

/** The least number of points of a page, except the last: they are read without letting other requests use the database. */
const PAGE_POINTS = 4096;
/** A position before every point. */
const START: Position = { step: -Number.MAX_SAFE_INTEGER, seq: 0 };

/**
 * The points of a run in the order (name, step, seq), page by page, in constant memory and without holding the database between two
 * pages. Every point that existed at the start comes exactly once; points that are stored meanwhile may be included.
 * `names` null: every metric; a name that the run does not have is left out.
 */
export async function* pagesOf(
  store: PointStore,
  runId: string,
  names: readonly string[] | null,
): AsyncGenerator<PointPage, undefined> {
  for (const name of [...(names ? new Set(names) : await allNames(store, runId))].sort()) {
    let after: Position | null = null;
    for (;;) {
      await yieldIfSliceOver();
      const points = await store.read((rows) => readPage(rows, runId, name, after));
      if (points.length === 0) break;
      yield { name, points };
      after = points.at(-1) ?? null;
    }
  }
}

async function allNames(store: PointStore, runId: string): Promise<string[]> {
  const names: string[] = [];
  for await (const page of seriesPagesOf(store, runId)) names.push(...page.map(({ name }) => name));
  return names;
}

async function findSeries(rows: PointRows, runId: string, name: string): Promise<SeriesRow | undefined> {
  const run = await rows.findRun(runId);
  return run ? (await rows.findSeries(run.key, [name]))[0] : undefined;
}

/** The next points after that position; empty after the last one. */
async function readPage(
  rows: PointRows,
  runId: string,
  name: string,
  after: Position | null,
): Promise<Point[]> {
  const series = await findSeries(rows, runId, name);
  if (!series) return [];
  const isAhead = (point: Point): boolean => after === null || comparePoints(point, after) > 0;
  const page: Point[] = [];
  let chunk = await rows.chunkAround(series.id, after ?? START);
  while (chunk && page.length < PAGE_POINTS) {
    for (const point of decodePoints(chunk.data)) if (isAhead(point)) page.push(point);
    const position = await rows.chunkAfter(series.id, chunk.position);
    chunk = position && { position, data: await rows.chunkData(series.id, position) };
  }
  if (!chunk) for (const point of decodePoints(series.tail)) if (isAhead(point)) page.push(point);
  return page;
}
