import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Must hold: no more than this is parsed at once, as parsing stops all other work of the agent. */
export const MAX_PARSED_BYTES = 1024 * 1024;

/** Opens a file of a job to read it: no link is followed, and no pipe waited for. Throws for what is no regular file. */
export async function withFile<T>(
  file: string,
  read: (handle: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new TypeError(`${file} is no file`);
    return await read(handle, stats.size);
  } finally {
    await handle.close();
  }
}

/** Fewer bytes at the end of the file. */
export async function readRange(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}
