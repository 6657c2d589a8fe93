import type { FileHandle } from 'node:fs/promises';
import { MAX_PARSED_BYTES, readRange, withFile } from '@svc/agent/file-ranges';

/** Of a header that is too long to be parsed, its last tensors, which lie at the end of the file. */
const HEADER_TAIL_BYTES = 64 * 1024;
const DATA_OFFSETS = /"data_offsets"\s{0,8}:\s{0,8}\[\s{0,8}\d{1,16}\s{0,8},\s{0,8}(\d{1,16})\s{0,8}\]/g;
const ZIP_HEAD = 0x04034b50;
const HDF5_SIGNATURE = Buffer.from('\x89HDF\r\n\x1a\n', 'latin1');
/** Up to the address of the end, of each version. */
const HDF5_HEAD_BYTES = 52;
/** The record at the end of every zip archive, before a comment of at most 64 KiB. */
const ZIP_END = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const ZIP_END_BYTES = 22;
const ZIP_TAIL_BYTES = ZIP_END_BYTES + 65_535;

/** `unknown`: its format does not tell. */
export type Wholeness = 'whole' | 'cut' | 'unknown';

/** Whether the file is cut off, as far as its format tells: safetensors, zip (PyTorch, Lightning, Keras, npz) and HDF5. */
export async function wholenessOf(file: string): Promise<Wholeness> {
  return withFile(file, async (handle, size) => {
    if (size === 0) return 'cut';
    if (file.endsWith('.safetensors')) return toWholeness(await isWholeSafetensors(handle, size));
    const head = await readRange(handle, 0, HDF5_HEAD_BYTES);
    if (head.length >= 4 && head.readUInt32LE() === ZIP_HEAD)
      return toWholeness(await isWholeZip(handle, size));
    return head.indexOf(HDF5_SIGNATURE) === 0 ? wholenessOfHdf5(head, size) : 'unknown';
  });
}

function toWholeness(isWhole: boolean): Wholeness {
  return isWhole ? 'whole' : 'cut';
}

/** The superblock says where the file ends, once it is closed; it ends behind that while it is open, and after the death of its writer. */
function wholenessOfHdf5(head: Buffer, size: number): Wholeness {
  const version = head[8];
  const isOld = version === 0 || version === 1;
  // Addresses have 8 bytes wherever they have not been set to less.
  if (head.length < HDF5_HEAD_BYTES || head[isOld ? 13 : 9] !== 8) return 'unknown';
  const first = isOld ? 24 + 4 * version : 12;
  const end = head.readBigUInt64LE(first + 16);
  if (end > BigInt(size)) return 'cut';
  return end === BigInt(size) ? 'whole' : 'unknown';
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
