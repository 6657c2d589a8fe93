import { comparePoints, type Point } from './point.js';

/** A point as a digest contains it: a stored digest does not have the epochs of its points. */
export type DigestPoint = Omit<Point, 'epoch'> & Partial<Pick<Point, 'epoch'>>;

/**
 * A summary of a set of points of one series. The digests of disjoint sets can be merged in any order, so a chunk, a series and a bucket
 * of a thinned answer each have one. Among equal values the earliest point counts.
 */
export interface Digest {
  count: number;
  nan_count: number;
  /** Of both signs. */
  inf_count: number;
  ts_min: number;
  ts_max: number;
  /** In the order of the series. */
  first: DigestPoint | null;
  last: DigestPoint | null;
  /** Over the finite values. */
  min: DigestPoint | null;
  max: DigestPoint | null;
  /** The first point of each value that is not finite. */
  nan: DigestPoint | null;
  inf: DigestPoint | null;
  neg_inf: DigestPoint | null;
}

export function emptyDigest(): Digest {
  return {
    count: 0,
    nan_count: 0,
    inf_count: 0,
    ts_min: Infinity,
    ts_max: -Infinity,
    first: null,
    last: null,
    min: null,
    max: null,
    nan: null,
    inf: null,
    neg_inf: null,
  };
}

export function digestOf(points: Iterable<DigestPoint>): Digest {
  const digest = emptyDigest();
  for (const point of points) addPoint(digest, point);
  return digest;
}

export function addPoint(digest: Digest, point: DigestPoint): void {
  digest.count += 1;
  if (point.ts < digest.ts_min) digest.ts_min = point.ts;
  if (point.ts > digest.ts_max) digest.ts_max = point.ts;
  digest.first = earlier(digest.first, point);
  digest.last = later(digest.last, point);
  if (Number.isFinite(point.value)) {
    digest.min = lower(digest.min, point);
    digest.max = higher(digest.max, point);
  } else if (point.value === Infinity) {
    digest.inf_count += 1;
    digest.inf = earlier(digest.inf, point);
  } else if (point.value === -Infinity) {
    digest.inf_count += 1;
    digest.neg_inf = earlier(digest.neg_inf, point);
  } else {
    digest.nan_count += 1;
    digest.nan = earlier(digest.nan, point);
  }
}

export function mergeDigest(into: Digest, other: Digest): void {
  into.count += other.count;
  into.nan_count += other.nan_count;
  into.inf_count += other.inf_count;
  into.ts_min = Math.min(into.ts_min, other.ts_min);
  into.ts_max = Math.max(into.ts_max, other.ts_max);
  if (other.first) into.first = earlier(into.first, other.first);
  if (other.last) into.last = later(into.last, other.last);
  if (other.min) into.min = lower(into.min, other.min);
  if (other.max) into.max = higher(into.max, other.max);
  if (other.nan) into.nan = earlier(into.nan, other.nan);
  if (other.inf) into.inf = earlier(into.inf, other.inf);
  if (other.neg_inf) into.neg_inf = earlier(into.neg_inf, other.neg_inf);
}

/** The points that show all extremes of the set: at most 5. */
export function extremesOf(digest: Digest): DigestPoint[] {
  return [digest.min, digest.max, digest.nan, digest.inf, digest.neg_inf].filter((point) => point !== null);
}

function earlier(a: DigestPoint | null, b: DigestPoint): DigestPoint {
  return a !== null && comparePoints(a, b) <= 0 ? a : b;
}

function later(a: DigestPoint | null, b: DigestPoint): DigestPoint {
  return a !== null && comparePoints(a, b) >= 0 ? a : b;
}

function lower(a: DigestPoint | null, b: DigestPoint): DigestPoint {
  if (a === null || b.value < a.value) return b;
  return b.value > a.value ? a : earlier(a, b);
}

function higher(a: DigestPoint | null, b: DigestPoint): DigestPoint {
  if (a === null || b.value > a.value) return b;
  return b.value < a.value ? a : earlier(a, b);
}

const POINTS = ['first', 'last', 'min', 'max', 'nan', 'inf', 'neg_inf'] as const;
type PointName = (typeof POINTS)[number];
const FORMAT = 1;
const COUNTS_BYTES = 2 + 5 * 8;
const POINT_BYTES = 4 * 8;

/** The encoding: a format byte, a byte of flags for the points that are present, five numbers, then these points. */
export function encodeDigest(digest: Digest): Buffer {
  const bytes = Buffer.allocUnsafe(COUNTS_BYTES + POINTS.length * POINT_BYTES);
  const view = viewOf(bytes);
  let bits = 0;
  let at = COUNTS_BYTES;
  for (let index = 0; index < POINTS.length; index += 1) {
    const point = digest[POINTS[index] as PointName];
    if (point === null) continue;
    bits |= 1 << index;
    view.setFloat64(at, point.step, true);
    view.setFloat64(at + 8, point.seq, true);
    view.setFloat64(at + 16, point.ts, true);
    view.setFloat64(at + 24, point.value, true);
    at += POINT_BYTES;
  }
  bytes[0] = FORMAT;
  bytes[1] = bits;
  view.setFloat64(2, digest.count, true);
  view.setFloat64(10, digest.nan_count, true);
  view.setFloat64(18, digest.inf_count, true);
  view.setFloat64(26, digest.ts_min, true);
  view.setFloat64(34, digest.ts_max, true);
  return bytes.subarray(0, at);
}

export function decodeDigest(bytes: Buffer): Digest {
  if (bytes[0] !== FORMAT) throw new Error(`a digest of an unknown format: ${bytes[0]}`);
  const view = viewOf(bytes);
  const digest = emptyDigest();
  digest.count = view.getFloat64(2, true);
  digest.nan_count = view.getFloat64(10, true);
  digest.inf_count = view.getFloat64(18, true);
  digest.ts_min = view.getFloat64(26, true);
  digest.ts_max = view.getFloat64(34, true);
  const bits = bytes[1] as number;
  let at = COUNTS_BYTES;
  for (let index = 0; index < POINTS.length; index += 1) {
    if ((bits & (1 << index)) === 0) continue;
    digest[POINTS[index] as PointName] = readPoint(view, at);
    at += POINT_BYTES;
  }
  return digest;
}

/** A DataView is twice as fast as the read and write methods of a Buffer. */
function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function readPoint(view: DataView, at: number): DigestPoint {
  return {
    step: view.getFloat64(at, true),
    seq: view.getFloat64(at + 8, true),
    ts: view.getFloat64(at + 16, true),
    value: view.getFloat64(at + 24, true),
  };
}
