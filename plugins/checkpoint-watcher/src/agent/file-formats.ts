import type { FileHandle } from 'node:fs/promises';
import { MAX_PARSED_BYTES, readRange, withFile } from './file-ranges.js';

/** Of a header that is too long to be parsed, its last tensors, which lie at the end of the file. */
const HEADER_TAIL_BYTES = 64 * 1024;
const DATA_OFFSETS = /"data_offsets"\s{0,8}:\s{0,8}\[\s{0,8}\d{1,16}\s{0,8},\s{0,8}(\d{1,16})\s{0,8}\]/g;
const ZIP_HEAD = 0x04034b50;
/** The record at the end of every zip archive, before a comment of at most 64 KiB. */
const ZIP_END = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const ZIP_END_BYTES = 22;
const ZIP_TAIL_BYTES = ZIP_END_BYTES + 65_535;

/**
 * Whether the file is not cut off, as far as its format tells: safetensors, and zip (PyTorch, Lightning, Keras, npz). A file of another format counts
 * as whole.
 */
export async function isWhole(file: string): Promise<boolean> {
  return withFile(file, async (handle, size) => {
    if (size === 0) return false;
    if (file.endsWith('.safetensors')) return isWholeSafetensors(handle, size);
    const head = await readRange(handle, 0, 4);
    if (head.length === 4 && head.readUInt32LE() === ZIP_HEAD) return isWholeZip(handle, size);
    return true;
  });
}

/** The length of the header (8 bytes), the header, and tensors, of which the header says where they end. */
async function isWholeSafetensors(handle: FileHandle, size: number): Promise<boolean> {
  const head = await readRange(handle, 0, 8);
  if (head.length < 8) return false;
  const length = Number(head.readBigUInt64LE());
  if (8 + length > size) return false;
  try {
    return size >= 8 + length + (await endOfTensors(handle, length));
  } catch {
    return false;
  }
}

async function endOfTensors(handle: FileHandle, length: number): Promise<number> {
  if (length > MAX_PARSED_BYTES) {
    const tail = await readRange(handle, 8 + length - HEADER_TAIL_BYTES, HEADER_TAIL_BYTES);
    return lastOf([...tail.toString().matchAll(DATA_OFFSETS)].map(([, end]) => Number(end)));
  }
  const tensors = JSON.parse((await readRange(handle, 8, length)).toString()) as Record<string, Tensor>;
  return lastOf(Object.values(tensors).map(({ data_offsets }) => data_offsets?.[1] ?? 0));
}

function lastOf(ends: readonly number[]): number {
  return ends.reduce((last, end) => Math.max(last, end), 0);
}

interface Tensor {
  readonly data_offsets?: readonly [begin: number, end: number];
}

async function isWholeZip(handle: FileHandle, size: number): Promise<boolean> {
  const tail = await readRange(handle, Math.max(0, size - ZIP_TAIL_BYTES), ZIP_TAIL_BYTES);
  const end = tail.lastIndexOf(ZIP_END);
  return (
    end >= 0 &&
    end + ZIP_END_BYTES <= tail.length &&
    end + ZIP_END_BYTES + tail.readUInt16LE(end + 20) === tail.length
  );
}
