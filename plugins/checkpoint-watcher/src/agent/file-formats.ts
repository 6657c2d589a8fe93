import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

const MAX_SAFETENSORS_HEADER = 100 * 1024 * 1024;
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
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    if (size === 0) return false;
    if (file.endsWith('.safetensors')) return await isWholeSafetensors(handle, size);
    const head = await read(handle, 0, 4);
    if (head.length === 4 && head.readUInt32LE() === ZIP_HEAD) return await isWholeZip(handle, size);
    return true;
  } finally {
    await handle.close();
  }
}

/** The length of the header (8 bytes), the header, and tensors, of which the header says where they end. */
async function isWholeSafetensors(handle: FileHandle, size: number): Promise<boolean> {
  const head = await read(handle, 0, 8);
  if (head.length < 8) return false;
  const length = Number(head.readBigUInt64LE());
  if (length > MAX_SAFETENSORS_HEADER || 8 + length > size) return false;
  try {
    const tensors = JSON.parse((await read(handle, 8, length)).toString()) as Record<string, Tensor>;
    const ends = Object.values(tensors).map(({ data_offsets }) => data_offsets?.[1] ?? 0);
    return size >= 8 + length + ends.reduce((last, end) => Math.max(last, end), 0);
  } catch {
    return false;
  }
}

interface Tensor {
  readonly data_offsets?: readonly [begin: number, end: number];
}

async function isWholeZip(handle: FileHandle, size: number): Promise<boolean> {
  const tail = await read(handle, Math.max(0, size - ZIP_TAIL_BYTES), ZIP_TAIL_BYTES);
  const end = tail.lastIndexOf(ZIP_END);
  return (
    end >= 0 &&
    end + ZIP_END_BYTES <= tail.length &&
    end + ZIP_END_BYTES + tail.readUInt16LE(end + 20) === tail.length
  );
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}
