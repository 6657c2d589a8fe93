import { syncDirectory } from '@svc/kernel';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { copyWhole, isMissing, linkOrCopy, namesIn, sizeOf, type FileCount } from './files.js';

/** A job's folder, and the log of one attempt: still growing, or complete and compressed, and then never written again. */
const FOLDER = /^job_\w+$/;
const LOG = /^attempt-\d+\.ndjson(\.gz)?$/;

/**
 * Copies the logs of all attempts. A complete one becomes another name of the same file and takes no space. A file that is gone by
 * now was compressed or removed meanwhile.
 */
export async function copyLogs(from: string, to: string): Promise<FileCount> {
  let files = 0;
  let bytes = 0;
  for (const { folder, name } of await listLogs(from)) {
    const copied = await copyLog(join(from, folder), join(to, folder), name);
    if (copied === null) continue;
    files += 1;
    bytes += copied;
  }
  await syncFolders(to);
  return { files, bytes };
}

/** Puts back what is missing, or shorter than it was: logs only grow. Others stay, for they know more. */
export async function restoreLogs(from: string, to: string): Promise<FileCount> {
  let files = 0;
  let bytes = 0;
  for (const { folder, name } of await listLogs(from)) {
    if (await isThere(join(from, folder, name), join(to, folder, name))) continue;
    bytes += (await copyLog(join(from, folder), join(to, folder), name)) ?? 0;
    files += 1;
  }
  await syncFolders(to);
  return { files, bytes };
}

/** The names of all logs below outlive a loss of power from now on. */
async function syncFolders(directory: string): Promise<void> {
  const folders = (await namesIn(directory)).filter((name) => FOLDER.test(name));
  for (const folder of folders) await syncDirectory(join(directory, folder));
  if (folders.length > 0) await syncDirectory(directory);
}

async function listLogs(directory: string): Promise<{ folder: string; name: string }[]> {
  const found: { folder: string; name: string }[] = [];
  for (const folder of (await namesIn(directory)).filter((name) => FOLDER.test(name))) {
    const names = await namesIn(join(directory, folder));
    found.push(...names.filter((name) => LOG.test(name)).map((name) => ({ folder, name })));
  }
  return found;
}

/** Returns its size; null when it is gone. */
async function copyLog(from: string, to: string, name: string): Promise<number | null> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const copy = name.endsWith('.gz') ? linkOrCopy : copyWhole;
  try {
    await copy(join(from, name), join(to, name));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return name.endsWith('.gz') ? null : copyLog(from, to, `${name}.gz`);
  }
  return sizeOf(join(to, name));
}

/** The compressed form of a log stands for the growing one. */
async function isThere(saved: string, present: string): Promise<boolean> {
  if (!present.endsWith('.gz') && (await sizeOf(`${present}.gz`)) !== null) return true;
  return ((await sizeOf(present)) ?? -1) >= ((await sizeOf(saved)) ?? 0);
}
