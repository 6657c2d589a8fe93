import { constants } from 'node:fs';
import { copyFile, link, open, readdir, rename, rm, stat } from 'node:fs/promises';

export interface FileCount {
  readonly files: number;
  readonly bytes: number;
}

/** A copy of its own, whole under its name or not there; on file systems that can, without taking space. */
export async function copyWhole(from: string, to: string): Promise<void> {
  const draft = `${to}.partial`;
  await copyFile(from, draft, constants.COPYFILE_FICLONE);
  await syncFile(draft);
  await rename(draft, to);
}

/** Another name of the same file, or a copy where the file system has no such thing. Must hold: nobody writes to the file. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await link(from, to).catch((error: unknown) => {
    if (isMissing(error)) throw error;
    return copyWhole(from, to);
  });
}

/** In bytes; null when there is no such file. */
export async function sizeOf(file: string): Promise<number | null> {
  return stat(file).then(
    ({ size }) => size,
    (error: unknown) => (isMissing(error) ? null : Promise.reject(error)),
  );
}

/** The names in a directory; none when it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => (isMissing(error) ? [] : Promise.reject(error)));
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
