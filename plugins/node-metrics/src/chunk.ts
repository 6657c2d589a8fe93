import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { MetricNames } from './service.js';
import type { Samples } from './samples.js';

/**
 * A stretch of samples as bytes: the length of the head (4 bytes), the head, then each column as doubles, compressed by itself. The
 * head names the times and where each column lies.
 */
interface Head {
  readonly from: number;
  /** Milliseconds from each sample to the next. */
  readonly gaps: readonly number[];
  /** Sizes of the columns, in their order. */
  readonly columns: readonly (readonly [name: string, sizeBytes: number])[];
}

const HEAD_SIZE_BYTES = 4;
const DOUBLE_BYTES = 8;

export function encodeChunk({ ts, columns }: Samples): Buffer {
  const packed = [...columns].map(([name, values]) => [name, packColumn(values)] as const);
  const head: Head = {
    from: ts[0] as number,
    gaps: ts.slice(1).map((at, index) => at - (ts[index] as number)),
    columns: packed.map(([name, bytes]) => [name, bytes.length]),
  };
  const headBytes = deflateRawSync(JSON.stringify(head));
  const size = Buffer.allocUnsafe(HEAD_SIZE_BYTES);
  size.writeUInt32LE(headBytes.length);
  return Buffer.concat([size, headBytes, ...packed.map(([, bytes]) => bytes)]);
}

/** `names` null: every column. */
export function decodeChunk(bytes: Buffer, names: MetricNames | null): Samples {
  const headEnd = HEAD_SIZE_BYTES + bytes.readUInt32LE(0);
  const head = JSON.parse(inflateRawSync(bytes.subarray(HEAD_SIZE_BYTES, headEnd)).toString()) as Head;
  const columns = new Map<string, Float64Array>();
  let at = headEnd;
  for (const [name, sizeBytes] of head.columns) {
    if (names === null || names.has(name))
      columns.set(name, unpackColumn(bytes.subarray(at, at + sizeBytes)));
    at += sizeBytes;
  }
  return { ts: toTimes(head), columns };
}

function toTimes({ from, gaps }: Head): number[] {
  const ts = [from];
  for (const gap of gaps) ts.push((ts.at(-1) as number) + gap);
  return ts;
}

function packColumn(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * DOUBLE_BYTES);
  for (let index = 0; index < values.length; index++)
    bytes.writeDoubleLE(values[index] as number, index * DOUBLE_BYTES);
  return deflateRawSync(bytes, { level: 1 });
}

function unpackColumn(packed: Buffer): Float64Array {
  const bytes = inflateRawSync(packed);
  return Float64Array.from({ length: bytes.length / DOUBLE_BYTES }, (_, index) =>
    bytes.readDoubleLE(index * DOUBLE_BYTES),
  );
}
