import { syncDirectory } from '@svc/kernel';
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inspectArchive, type ArchiveLimits } from './inspect-archive.js';
import type { SnapshotStore } from './store.js';

export interface Received {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  readonly files: number;
}

/** Writes the archive to the disk as it comes; durable under its name when this resolves. Rejects with what is wrong with it. */
export async function receiveArchive(
  body: Readable,
  store: SnapshotStore,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<Received> {
  await mkdir(store.directory, { recursive: true, mode: 0o700 });
  const partial = join(store.directory, `${randomUUID()}${PARTIAL}`);
  try {
    const sha256 = await writeHashed(body, partial, signal);
    const files = await inspectArchive(partial, limits, signal);
    const { size } = await stat(partial);
    await rename(partial, store.fileOf(sha256));
    await syncDirectory(dirname(partial));
    return { sha256, size, files };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** What a server that died left of an upload. */
export const PARTIAL = '.partial';

async function writeHashed(body: Readable, file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(body, hashing, createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true }), {
    signal,
  });
  return hash.digest('hex');
}
