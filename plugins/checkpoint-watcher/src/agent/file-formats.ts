import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

const MAX_SAFETENSORS_HEADER = 100 * 1024 * 1024;
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
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    if (size === 0) return 'cut';
    if (file.endsWith('.safetensors')) return toWholeness(await isWholeSafetensors(handle, size));
    const head = await read(handle, 0, HDF5_HEAD_BYTES);
    if (head.length >= 4 && head.readUInt32LE() === ZIP_HEAD)
      return toWholeness(await isWholeZip(handle, size));
    return head.indexOf(HDF5_SIGNATURE) === 0 ? wholenessOfHdf5(head, size) : 'unknown';
  } finally {
    await handle.close();
  }
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
