import type { SeriesByName } from '@svc/contract';
import { failValidation, yieldIfSliceOver } from '@svc/kernel';
import { decodePoints } from './chunk-codec.js';
import { digestOf } from './digest.js';
import type { PointRows, SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';
import { seriesPagesOf } from './series-pages.js';
import { readSeries, type Segment, type Selection } from './series-reader.js';

/** An answer is built in memory: this is about 40 MB of JSON. */
export const MAX_POINTS_PER_ANSWER = 1_000_000;
/** After this time the reader yields the database and the processor to others. */
const SLICE_MS = 10;

/** Which points of a run; bounds are inclusive. */
interface SeriesQuery {
  /** Default: every metric of the run. Names without points are left out of the answer. */
  readonly names?: readonly string[] | undefined;
  readonly step_from?: number | undefined;
  readonly step_to?: number | undefined;
  /** Only points whose `ts` is at or after this, in ms since the epoch. */
  readonly ts_from?: number | undefined;
  /** The maximum number of points per series: longer series are thinned. */
  readonly limit: number;
}

/** The series of one run that the query asks for, by name. A name that the run does not have is left out. */
export async function readRun(
  store: PointStore,
  runId: string,
  query: SeriesQuery,
  maxPoints = MAX_POINTS_PER_ANSWER,
): Promise<SeriesByName> {
  const selection: Selection = {
    step_from: query.step_from ?? -Infinity,
    step_to: query.step_to ?? Infinity,
    ts_from: query.ts_from ?? -Infinity,
  };
  const names = await namesToRead(store, runId, query, maxPoints);
  const answer: [string, SeriesByName[string]][] = [];
  let next = 0;
  while (next < names.length) {
    await yieldIfSliceOver();
    await store.read(async (rows) => {
      const endMs = performance.now() + SLICE_MS;
      do {
        for (const series of await findSeries(rows, runId, names.slice(next, next + 1)))
          answer.push([
            series.name,
            await readSeries(await segmentsOf(rows, series), selection, query.limit),
          ]);
        next += 1;
      } while (next < names.length && performance.now() < endMs);
    });
  }
  return Object.fromEntries(answer);
}

export async function readRuns(
  store: PointStore,
  runIds: readonly string[],
  query: SeriesQuery,
): Promise<Record<string, SeriesByName>> {
  const answer: Record<string, SeriesByName> = {};
  let left = MAX_POINTS_PER_ANSWER;
  for (const runId of runIds) {
    const series = await readRun(store, runId, query, left);
    answer[runId] = series;
    left -= Object.values(series).reduce((sum, { steps }) => sum + steps.length, 0);
  }
  return answer;
}

async function namesToRead(
  store: PointStore,
  runId: string,
  { names, limit }: SeriesQuery,
  maxPoints: number,
): Promise<string[]> {
  const pages = names
    ? [await store.read((rows) => findSeries(rows, runId, [...new Set(names)]))]
    : seriesPagesOf(store, runId);
  const found: string[] = [];
  let points = 0;
  for await (const page of pages) {
    for (const { name, digest } of page) {
      found.push(name);
      points += Math.min(digest.count, limit);
    }
  }
  if (points > maxPoints) {
    const message = `the answer could have more than ${MAX_POINTS_PER_ANSWER} points: name fewer runs or metrics, or lower limit`;
    failValidation({ path: 'limit', message });
  }
  return found;
}

export async function findSeries(
  rows: PointRows,
  runId: string,
  names: readonly string[],
): Promise<SeriesRow[]> {
  const run = await rows.findRun(runId);
  return run ? rows.findSeries(run.key, names) : [];
}

/** The chunks, then the tail. */
export async function segmentsOf(rows: PointRows, series: SeriesRow): Promise<Segment[]> {
  const tail = decodePoints(series.tail);
  const heads = series.digest.count > tail.length ? await rows.chunkHeads(series.id) : [];
  const chunks = heads.map(({ position, digest }) => ({
    digest,
    load: async () => {
      await yieldIfSliceOver();
      return decodePoints(await rows.chunkData(series.id, position));
    },
  }));
  return [...chunks, { digest: digestOf(tail), load: async () => tail }];
}
