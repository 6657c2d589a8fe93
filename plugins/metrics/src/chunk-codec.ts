import type { Point } from './point.js';

/**
 * Points of one series as bytes, 12 to 14 for a point of a usual training. Each point is a byte of flags, then step, seq and ts as the
 * zigzag varint of their difference to the point before, the value as 8 bytes (so NaN, -0 and denormals come back as they
 * were), and the epoch when it changes. A difference too wide for a varint is written as 8 bytes of the number itself.
 */
const FORMAT = 1;
const WIDE_STEP = 1;
const WIDE_SEQ = 2;
const WIDE_TS = 4;
const EPOCH_GIVEN = 8;
const EPOCH_AS_BEFORE = 16;

const MAX_NARROW = 2 ** 30;
/** Flags, three numbers, value, epoch: each at its widest. */
const MAX_POINT_BYTES = 1 + 3 * 8 + 8 + 8;
const ORIGIN: Point = { step: 0, seq: 0, ts: 0, value: 0, epoch: null };

export function encodePoints(points: readonly Point[]): Buffer {
  return write(Buffer.of(FORMAT), ORIGIN, points);
}

/** `last` is the last point of `bytes`; only `points` is encoded, whatever the size of `bytes`. */
export function appendPoints(bytes: Buffer, last: Omit<Point, 'epoch'>, points: readonly Point[]): Buffer {
  return write(bytes, { ...last, epoch: null }, points);
}

function write(prefix: Buffer, last: Point, points: readonly Point[]): Buffer {
  const writer = new Writer(prefix, points.length);
  let previous = last;
  for (const point of points) {
    writer.point(previous, point);
    previous = point;
  }
  return writer.written();
}

/** One buffer for all writers: each of them finishes synchronously. */
let scratch = Buffer.allocUnsafe(64 * 1024);

class Writer {
  readonly #bytes: Buffer;
  #at: number;

  constructor(prefix: Buffer, count: number) {
    const needed = prefix.length + count * MAX_POINT_BYTES;
    if (needed > scratch.length) scratch = Buffer.allocUnsafe(2 * needed);
    this.#bytes = scratch;
    this.#at = prefix.copy(this.#bytes);
  }

  written(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }

  point(previous: Point, point: Point): void {
    const flagsAt = this.#at++;
    let flags = this.#number(previous.step, point.step, WIDE_STEP);
    flags |= this.#number(previous.seq, point.seq, WIDE_SEQ);
    flags |= this.#number(previous.ts, point.ts, WIDE_TS);
    this.#double(point.value);
    if (point.epoch !== null && Object.is(point.epoch, previous.epoch)) {
      flags |= EPOCH_AS_BEFORE;
    } else if (point.epoch !== null) {
      flags |= EPOCH_GIVEN;
      this.#double(point.epoch);
    }
    this.#bytes[flagsAt] = flags;
  }

  /** Returns `wideFlag` when the number had to be written in full, else 0. */
  #number(previous: number, value: number, wideFlag: number): number {
    const difference = value - previous;
    if (difference > -MAX_NARROW && difference < MAX_NARROW) {
      this.#varint((difference << 1) ^ (difference >> 31));
      return 0;
    }
    this.#double(value);
    return wideFlag;
  }

  #double(value: number): void {
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }
}

export function decodePoints(bytes: Buffer): Point[] {
  const reader = new Reader(bytes);
  const points: Point[] = [];
  while (reader.next()) {
    const { step, seq, ts, value, epoch } = reader;
    points.push({ step, seq, ts, value, epoch });
  }
  return points;
}

/** The last `wanted` values of `count` points, in order; the trend needs no more. */
export function decodeLastValues(bytes: Buffer, count: number, wanted: number): Float64Array {
  const reader = new Reader(bytes);
  const values = new Float64Array(Math.min(count, wanted));
  for (let index = values.length - count; index < 0; index += 1) reader.nextValue();
  for (let index = 0; index < values.length; index += 1) values[index] = reader.nextValue();
  return values;
}

/** Holds one point at a time. */
class Reader implements Point {
  step = ORIGIN.step;
  seq = ORIGIN.seq;
  ts = ORIGIN.ts;
  value = ORIGIN.value;
  epoch = ORIGIN.epoch;
  #at = 1;

  constructor(private readonly bytes: Buffer) {
    if (bytes[0] !== FORMAT) throw new Error(`points of an unknown format: ${bytes[0]}`);
  }

  /** Reads the next point; false when there is none. */
  next(): boolean {
    if (this.#at >= this.bytes.length) return false;
    const flags = this.bytes[this.#at++] as number;
    this.step = this.#number(this.step, flags & WIDE_STEP);
    this.seq = this.#number(this.seq, flags & WIDE_SEQ);
    this.ts = this.#number(this.ts, flags & WIDE_TS);
    this.value = this.#double();
    if (flags & EPOCH_GIVEN) this.epoch = this.#double();
    else if (!(flags & EPOCH_AS_BEFORE)) this.epoch = null;
    return true;
  }

  /** Returns the value of the next point and skips its other fields. */
  nextValue(): number {
    const flags = this.bytes[this.#at++] as number;
    this.#pass(flags & WIDE_STEP);
    this.#pass(flags & WIDE_SEQ);
    this.#pass(flags & WIDE_TS);
    const value = this.#double();
    if (flags & EPOCH_GIVEN) this.#at += 8;
    return value;
  }

  #pass(wide: number): void {
    if (wide) this.#at += 8;
    else while ((this.bytes[this.#at++] as number) > 0x7f);
  }

  #number(previous: number, wide: number): number {
    if (wide) return this.#double();
    const zigzag = this.#varint();
    return previous + ((zigzag >>> 1) ^ -(zigzag & 1));
  }

  #double(): number {
    const value = this.bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.#at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
