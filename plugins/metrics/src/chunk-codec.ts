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

function write(prefix: Buffer, previous: Point, points: readonly Point[]): Buffer {
  const bytes = Buffer.allocUnsafe(prefix.length + points.length * MAX_POINT_BYTES);
  prefix.copy(bytes);
  let at = prefix.length;
  for (const point of points) {
    at = writePoint(bytes, at, previous, point);
    previous = point;
  }
  return bytes.subarray(0, at);
}

function writePoint(bytes: Buffer, start: number, previous: Point, point: Point): number {
  let flags = 0;
  let at = start + 1;
  const narrow = (difference: number, value: number, flag: number) => {
    if (difference > -MAX_NARROW && difference < MAX_NARROW) {
      at = writeVarint(bytes, at, (difference << 1) ^ (difference >> 31));
    } else {
      flags |= flag;
      at = bytes.writeDoubleLE(value, at);
    }
  };
  narrow(point.step - previous.step, point.step, WIDE_STEP);
  narrow(point.seq - previous.seq, point.seq, WIDE_SEQ);
  narrow(point.ts - previous.ts, point.ts, WIDE_TS);
  at = bytes.writeDoubleLE(point.value, at);
  if (point.epoch !== null && point.epoch === previous.epoch) {
    flags |= EPOCH_AS_BEFORE;
  } else if (point.epoch !== null) {
    flags |= EPOCH_GIVEN;
    at = bytes.writeDoubleLE(point.epoch, at);
  }
  bytes[start] = flags;
  return at;
}

function writeVarint(bytes: Buffer, at: number, value: number): number {
  while (value > 0x7f) {
    bytes[at++] = (value & 0x7f) | 0x80;
    value >>>= 7;
  }
  bytes[at++] = value;
  return at;
}

export function decodePoints(bytes: Buffer): Point[] {
  if (bytes[0] !== FORMAT) throw new Error(`points of an unknown format: ${bytes[0]}`);
  const reader = new Reader(bytes);
  const points: Point[] = [];
  let previous = ORIGIN;
  while (reader.hasMore()) {
    previous = reader.point(previous);
    points.push(previous);
  }
  return points;
}

class Reader {
  private at = 1;

  constructor(private readonly bytes: Buffer) {}

  hasMore(): boolean {
    return this.at < this.bytes.length;
  }

  point(previous: Point): Point {
    const flags = this.bytes[this.at++] as number;
    const step = this.number(previous.step, flags & WIDE_STEP);
    const seq = this.number(previous.seq, flags & WIDE_SEQ);
    const ts = this.number(previous.ts, flags & WIDE_TS);
    const value = this.double();
    return { step, seq, ts, value, epoch: this.epoch(previous, flags) };
  }

  private epoch(previous: Point, flags: number): number | null {
    if (flags & EPOCH_GIVEN) return this.double();
    return flags & EPOCH_AS_BEFORE ? previous.epoch : null;
  }

  private number(previous: number, wide: number): number {
    if (wide) return this.double();
    const zigzag = this.varint();
    return previous + ((zigzag >>> 1) ^ -(zigzag & 1));
  }

  private double(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  private varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
