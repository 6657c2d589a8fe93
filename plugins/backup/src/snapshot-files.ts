import { syncDirectory } from '@svc/kernel';
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isMissing, linkOrCopy, namesIn, sizeOf, type FileCount } from './files.js';

/** The source files of submitted jobs: complete when the file has its name, and never written again. */
const SNAPSHOT = /^[0-9a-f]{64}\.tar\.gz$/;

/** Gives the snapshots of which `to` has no whole file another name there. One that is gone by now was removed by retention. */
export async function linkSnapshots(from: string, to: string): Promise<FileCount> {
  const names = (await namesIn(from)).filter((name) => SNAPSHOT.test(name));
  if (names.length > 0) await mkdir(to, { recursive: true, mode: 0o700 });
  let files = 0;
  let bytes = 0;
  for (const name of names) {
    const linked = await linkMissing(join(from, name), join(to, name));
    if (linked === null) continue;
    files += 1;
    bytes += linked;
  }
  if (files > 0) await syncDirectory(to);
  return { files, bytes };
}

/** Returns its size in bytes; null when it is there already, or gone. */
async function linkMissing(from: string, to: string): Promise<number | null> {
  const size = await sizeOf(from);
  if (size === null || (await isWhole(to))) return null;
  return linkOrCopy(from, to).then(
    () => size,
    (error: unknown) => (isMissing(error) ? null : Promise.reject(error)),
  );
}

/** Whether the content is that which the name says: a damaged file may have its size still. */
async function isWhole(file: string): Promise<boolean> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
  return basename(file).startsWith(hash.digest('hex'));
}
