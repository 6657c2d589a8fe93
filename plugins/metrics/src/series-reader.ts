import { toMetricValue, type Series } from '@svc/contract';
import { addPoint, emptyDigest, extremesOf, mergeDigest, type Digest, type Mark } from './digest.js';
import { comparePoints, type Point } from './point.js';

/** A stretch of a series: what it comes to is known, its points are loaded when that is not enough. */
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
 * The selected points of a series whose segments come in order and do not overlap. More than `limit` are thinned: the
 * first and the last stay, and of each bucket its minimum, its maximum and its first NaN, Infinity and -Infinity. A bucket
 * is a stretch of 2^n ranks of the whole series, with the smallest n that keeps within `limit`: so the answer depends on
 * the points and the question alone, never on how the points came in or lie on the disk.
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
  const marks =
    total <= limit ? await loadAll(selected) : await thin(selected, bucketLimitFor(segments, limit), limit);
  return {
    steps: marks.map(({ step }) => step),
    values: marks.map(({ value }) => toMetricValue(value)),
    ts: marks.map(({ ts }) => ts),
    total,
    downsampled: total > marks.length,
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

async function loadAll(selected: readonly SelectedSegment[]): Promise<Mark[]> {
  const marks: Mark[] = [];
  for (const { segment, points } of selected) {
    if (points) for (const { point } of points) marks.push(point);
    else marks.push(...(await segment.load()));
  }
  return marks;
}

/** How many buckets there may be for their extremes, and the two ends, to keep within `limit`. */
function bucketLimitFor(segments: readonly Segment[], limit: number): number {
  const whole = emptyDigest();
  for (const { digest } of segments) mergeDigest(whole, digest);
  const oddKinds = [whole.nan, whole.inf, whole.neg_inf].filter((mark) => mark !== null).length;
  const whenOddIsRare = Math.floor((limit - 2 - whole.nan_count - whole.inf_count) / 2);
  const whenOddIsEverywhere = Math.floor((limit - 2) / (2 + oddKinds));
  return Math.max(1, whenOddIsRare, whenOddIsEverywhere);
}

async function thin(
  selected: readonly SelectedSegment[],
  bucketLimit: number,
  limit: number,
): Promise<Mark[]> {
  const width = bucketWidth(firstRank(selected), lastRank(selected), bucketLimit);
  const whole = emptyDigest();
  const extremes: Mark[] = [];
  for (const bucket of await fillBuckets(selected, width)) {
    mergeDigest(whole, bucket);
    extremes.push(...extremesOf(bucket));
  }
  const ends = [whole.last, whole.first].filter((mark) => mark !== null);
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

/** Powers of two, so that buckets of long series begin and end where chunks do. */
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

/** The first `limit` different marks, by step. */
function inOrder(marks: readonly Mark[], limit: number): Mark[] {
  const kept = new Map<number, Mark>();
  for (const mark of marks) if (kept.size < limit && !kept.has(mark.seq)) kept.set(mark.seq, mark);
  return [...kept.values()].sort(comparePoints);
}
