import type { Clock } from '@svc/kernel';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hashing } from './hashing.js';
import type { Inspections } from './inspections.js';
import { leastRate } from './least-rate.js';

export interface Received {
  /** Where it lies now. */
  readonly file: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  readonly files: number;
}

/** What a server that died left of an upload. */
export const PARTIAL = '.partial';

export interface Receiver {
  readonly directory: string;
  readonly inspections: Inspections;
  readonly clock: Clock;
}

/** Writes the archive to the disk as it comes, and gives it to `keep` once it was inspected. Rejects with what is wrong with it. */
export async function receiveArchive<T>(
  body: Readable,
  { directory, inspections, clock }: Receiver,
  signal: AbortSignal,
  keep: (received: Received) => Promise<T>,
): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `${randomUUID()}${PARTIAL}`);
  try {
    const sha256 = await writeHashed(body, file, clock, signal);
    const files = await inspections.inspect(file, signal);
    const { size } = await stat(file);
    return await keep({ file, sha256, size, files });
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function writeHashed(body: Readable, file: string, clock: Clock, signal: AbortSignal): Promise<string> {
  let sha256 = '';
  const hashed = hashing((content) => void (sha256 = content));
  const target = createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true });
  await pipeline(body, leastRate(clock), hashed, target, { signal });
  return sha256;
}
