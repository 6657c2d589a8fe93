import { toMetricValue, type Series } from '@svc/contract';
import { addPoint, emptyDigest, extremesOf, mergeDigest, type Digest, type DigestPoint } from './digest.js';
import { comparePoints, type Point } from './point.js';

/** A part of a series: its digest is known, and its points are loaded only when the digest is not enough. */
export interface Segment {
  readonly digest: Digest;
  load(): Promise<readonly Point[]>;
}

/** Which points are asked for; bounds are inclusive. */
export interface Selection {
  readonly step_from: number;
  readonly step_to: number;
  readonly ts_from: number;
}

/** A segment with the selection applied: `points` is null where every point of it is selected. */
interface SelectedSegment {
  readonly segment: Segment;
  /** How many points of the whole series come before this segment. */
  readonly rank: number;
  readonly points: readonly RankedPoint[] | null;
}

interface RankedPoint {
  readonly rank: number;
  readonly point: Point;
}

/**
 * The selected points of a series whose segments come in order and do not overlap. More than `limit` are thinned: what remains is the first
 * and the last point, and of each bucket its minimum, its maximum and its first NaN, Infinity and -Infinity. A bucket has 2^n ranks of
 * the whole series, with the smallest n that keeps within `limit`. So the answer depends only on the points and the query, not on the
 * order in which the points were stored, or on the chunks; but for epochs, which are left out where a digest gave the point.
 */
export async function readSeries(
  segments: readonly Segment[],
  selection: Selection,
  limit: number,
): Promise<Series> {
  const selected = await selectSegments(segments, selection);
  const total = selected.reduce(
    (sum, { segment, points }) => sum + (points?.length ?? segment.digest.count),
    0,
  );
  const shown =
    total <= limit ? await loadAll(selected) : await thin(selected, bucketLimitFor(segments, limit), limit);
  return {
    steps: shown.map(({ step }) => step),
    values: shown.map(({ value }) => toMetricValue(value)),
    ts: shown.map(({ ts }) => ts),
    ...(shown.some(({ epoch }) => (epoch ?? null) !== null) && {
      epochs: shown.map(({ epoch = null }) => epoch),
    }),
    total,
    downsampled: total > shown.length,
  };
}

async function selectSegments(
  segments: readonly Segment[],
  selection: Selection,
): Promise<SelectedSegment[]> {
  const selected: SelectedSegment[] = [];
  let rank = 0;
  for (const segment of segments) {
    const { digest } = segment;
    if (isInside(digest, selection)) {
      selected.push({ segment, rank, points: null });
    } else if (overlaps(digest, selection)) {
      const points = rankPoints(await segment.load(), rank).filter(({ point }) =>
        isSelected(point, selection),
      );
      if (points.length > 0) selected.push({ segment, rank, points });
    }
    rank += digest.count;
  }
  return selected;
}

function isInside({ first, last, ts_min }: Digest, { step_from, step_to, ts_from }: Selection): boolean {
  return (
    first !== null && last !== null && first.step >= step_from && last.step <= step_to && ts_min >= ts_from
  );
}

function overlaps({ first, last, ts_max }: Digest, { step_from, step_to, ts_from }: Selection): boolean {
  return (
    first !== null && last !== null && last.step >= step_from && first.step <= step_to && ts_max >= ts_from
  );
}

function isSelected({ step, ts }: Point, { step_from, step_to, ts_from }: Selection): boolean {
  return step >= step_from && step <= step_to && ts >= ts_from;
}

function rankPoints(points: readonly Point[], firstRank: number): RankedPoint[] {
  return points.map((point, index) => ({ rank: firstRank + index, point }));
}

async function loadAll(selected: readonly SelectedSegment[]): Promise<DigestPoint[]> {
  const shown: DigestPoint[] = [];
  for (const { segment, points } of selected) {
    if (points) for (const { point } of points) shown.push(point);
    else shown.push(...(await segment.load()));
  }
  return shown;
}

/** The number of buckets whose extremes, with the two ends, are at most `limit` points. */
function bucketLimitFor(segments: readonly Segment[], limit: number): number {
  const whole = emptyDigest();
  for (const { digest } of segments) mergeDigest(whole, digest);
  const nonFiniteKinds = [whole.nan, whole.inf, whole.neg_inf].filter((point) => point !== null).length;
  const limitWhenRare = Math.floor((limit - 2 - whole.nan_count - whole.inf_count) / 2);
  const limitWhenEverywhere = Math.floor((limit - 2) / (2 + nonFiniteKinds));
  return Math.max(1, limitWhenRare, limitWhenEverywhere);
}

async function thin(
  selected: readonly SelectedSegment[],
  bucketLimit: number,
  limit: number,
): Promise<DigestPoint[]> {
  const width = bucketWidth(firstRank(selected), lastRank(selected), bucketLimit);
  const whole = emptyDigest();
  const extremes: DigestPoint[] = [];
  for (const bucket of await fillBuckets(selected, width)) {
    mergeDigest(whole, bucket);
    extremes.push(...extremesOf(bucket));
  }
  const ends = [whole.last, whole.first].filter((point) => point !== null);
  return inOrder([...ends, ...extremes], limit);
}

function firstRank(selected: readonly SelectedSegment[]): number {
  const first = selected[0] as SelectedSegment;
  return first.points?.[0]?.rank ?? first.rank;
}

function lastRank(selected: readonly SelectedSegment[]): number {
  const last = selected.at(-1) as SelectedSegment;
  return last.points?.at(-1)?.rank ?? last.rank + last.segment.digest.count - 1;
}

/** A power of two, so that the buckets of long series consist of whole chunks. */
function bucketWidth(firstRank: number, lastRank: number, bucketLimit: number): number {
  let width = 1;
  while (Math.floor(lastRank / width) - Math.floor(firstRank / width) >= bucketLimit) width *= 2;
  return width;
}

async function fillBuckets(selected: readonly SelectedSegment[], width: number): Promise<Iterable<Digest>> {
  const buckets = new Map<number, Digest>();
  const bucketOf = (rank: number): Digest => {
    const key = Math.floor(rank / width);
    const bucket = buckets.get(key) ?? emptyDigest();
    buckets.set(key, bucket);
    return bucket;
  };
  for (const { segment, rank, points } of selected) {
    const lastRank = rank + segment.digest.count - 1;
    if (!points && Math.floor(rank / width) === Math.floor(lastRank / width)) {
      mergeDigest(bucketOf(rank), segment.digest);
    } else {
      for (const ranked of points ?? rankPoints(await segment.load(), rank)) {
        addPoint(bucketOf(ranked.rank), ranked.point);
      }
    }
  }
  return buckets.values();
}

/** The first `limit` distinct points, sorted by position. */
function inOrder(shown: readonly DigestPoint[], limit: number): DigestPoint[] {
  const kept = new Map<number, DigestPoint>();
  for (const point of shown) if (kept.size < limit && !kept.has(point.seq)) kept.set(point.seq, point);
  return [...kept.values()].sort(comparePoints);
}
