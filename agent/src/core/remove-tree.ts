import type { Dirent } from 'node:fs';
import { chmod, chown, opendir, rm } from 'node:fs/promises';
import path from 'node:path';
import { unlessMissing } from './durable-file.js';

/** Removes a directory that may hold what a job's user owns, whatever that user's processes do meanwhile. */
export async function removeTree(dir: string): Promise<void> {
  if (process.getuid?.() === 0) await takeOver(dir);
  await rm(dir, { recursive: true, force: true });
}

/**
 * Makes the directory and all below it root's. Must hold: from above to below, each before it is read. A process of another user that stands in
 * there could else put a link in the place of a directory while it is being removed, and lead the removal outside.
 */
async function takeOver(dir: string): Promise<void> {
  await chown(dir, 0, 0);
  await chmod(dir, 0o700);
  for await (const entry of entriesOf(dir))
    if (entry.isDirectory()) await takeOver(path.join(dir, entry.name));
}

/** Read on as it goes: there may be very many. */
export async function* entriesOf(dir: string): AsyncGenerator<Dirent> {
  const entries = await opendir(dir).catch(unlessMissing);
  if (entries !== null) yield* entries;
}
