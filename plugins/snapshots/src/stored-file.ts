import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { hashing } from './hashing.js';

interface Stored {
  readonly sha256: string;
  /** In bytes, as it should be. */
  readonly size: number;
}

/**
 * The content of the file; null when it is gone or has another size. `onDamaged` is called with the inode of a file whose content was read
 * to its end and is another: who has read it compares the hash too, and who comes next is told.
 */
export async function readStored(
  file: string,
  { sha256, size }: Stored,
  onDamaged: (inode: bigint) => Promise<void>,
): Promise<Readable | null> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return null;
  const stats = await handle.stat({ bigint: true });
  if (stats.size !== BigInt(size)) {
    await handle.close();
    return null;
  }
  const checking = hashing(async (content) => {
    if (content !== sha256) await onDamaged(stats.ino);
  });
  // A reader that goes away ends it too, which is no error here.
  return pipeline(handle.createReadStream(), checking, () => undefined);
}
