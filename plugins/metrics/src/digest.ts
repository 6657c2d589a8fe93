import { comparePoints, type Point } from './point.js';

/** A point without its epoch: what a digest remembers of one. */
export type Mark = Omit<Point, 'epoch'>;

/**
 * What a set of points of one series comes to. Digests of disjoint sets merge into that of their union, in any order, so a
 * chunk, a series and a bucket of a thinned answer are all described by one. Among equal values the earliest point counts.
 */
export interface Digest {
  count: number;
  nan_count: number;
  /** Of both signs. */
  inf_count: number;
  ts_min: number;
  ts_max: number;
  /** In the order of the series. */
  first: Mark | null;
  last: Mark | null;
  /** Over the finite values. */
  min: Mark | null;
  max: Mark | null;
  /** The first point of each value that is not finite. */
  nan: Mark | null;
  inf: Mark | null;
  neg_inf: Mark | null;
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

export function digestOf(points: Iterable<Mark>): Digest {
  const digest = emptyDigest();
  for (const point of points) addPoint(digest, point);
  return digest;
}

export function addPoint(digest: Digest, point: Mark): void {
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

/** The points that must be shown of this set for no extreme to be hidden: at most 5. */
export function extremesOf(digest: Digest): Mark[] {
  return [digest.min, digest.max, digest.nan, digest.inf, digest.neg_inf].filter((mark) => mark !== null);
}

function earlier(a: Mark | null, b: Mark): Mark {
  return a !== null && comparePoints(a, b) <= 0 ? a : b;
}

function later(a: Mark | null, b: Mark): Mark {
  return a !== null && comparePoints(a, b) >= 0 ? a : b;
}

function lower(a: Mark | null, b: Mark): Mark {
  if (a === null || b.value < a.value) return b;
  return b.value > a.value ? a : earlier(a, b);
}

function higher(a: Mark | null, b: Mark): Mark {
  if (a === null || b.value > a.value) return b;
  return b.value < a.value ? a : earlier(a, b);
}

const MARKS = ['first', 'last', 'min', 'max', 'nan', 'inf', 'neg_inf'] as const;
const FORMAT = 1;
const COUNTS_BYTES = 2 + 5 * 8;
const MARK_BYTES = 4 * 8;

/** A byte of format, a byte that says which marks there are, five numbers, then the marks. */
export function encodeDigest(digest: Digest): Buffer {
  const present = MARKS.filter((name) => digest[name] !== null);
  const bytes = Buffer.allocUnsafe(COUNTS_BYTES + present.length * MARK_BYTES);
  bytes[0] = FORMAT;
  bytes[1] = MARKS.reduce((bits, name, index) => (digest[name] === null ? bits : bits | (1 << index)), 0);
  const { count, nan_count, inf_count, ts_min, ts_max } = digest;
  let at = writeDoubles(bytes, 2, [count, nan_count, inf_count, ts_min, ts_max]);
  for (const name of present) {
    const { step, seq, ts, value } = digest[name] as Mark;
    at = writeDoubles(bytes, at, [step, seq, ts, value]);
  }
  return bytes;
}

function writeDoubles(bytes: Buffer, start: number, values: readonly number[]): number {
  let at = start;
  for (const value of values) at = bytes.writeDoubleLE(value, at);
  return at;
}

export function decodeDigest(bytes: Buffer): Digest {
  if (bytes[0] !== FORMAT) throw new Error(`a digest of an unknown format: ${bytes[0]}`);
  const bits = bytes[1] as number;
  const digest: Digest = {
    ...emptyDigest(),
    count: bytes.readDoubleLE(2),
    nan_count: bytes.readDoubleLE(10),
    inf_count: bytes.readDoubleLE(18),
    ts_min: bytes.readDoubleLE(26),
    ts_max: bytes.readDoubleLE(34),
  };
  let at = COUNTS_BYTES;
  for (const [index, name] of MARKS.entries()) {
    if ((bits & (1 << index)) === 0) continue;
    digest[name] = readMark(bytes, at);
    at += MARK_BYTES;
  }
  return digest;
}

function readMark(bytes: Buffer, at: number): Mark {
  return {
    step: bytes.readDoubleLE(at),
    seq: bytes.readDoubleLE(at + 8),
    ts: bytes.readDoubleLE(at + 16),
    value: bytes.readDoubleLE(at + 24),
  };
}
