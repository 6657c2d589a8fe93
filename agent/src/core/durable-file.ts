import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** Replaces the file by the JSON, so that a reader, or a host that loses power, finds the old content or the new. Mode 0600. */
export async function writeDurable(file: string, content: unknown): Promise<void> {
  await replaceFile(file, content, (handle) => handle.sync());
  await syncDir(path.dirname(file));
}

/** As `writeDurable`, but a host that loses power may find neither: for what counts in this boot of the host alone. */
export async function writeAtomic(file: string, content: unknown): Promise<void> {
  await replaceFile(file, content);
}

/** As `writeDurable`, blocking. */
export function writeDurableSync(file: string, content: unknown): void {
  replaceFileSync(file, content, fsyncSync);
  const dir = openSync(path.dirname(file), 'r');
  try {
    fsyncSync(dir);
  } finally {
    closeSync(dir);
  }
}

/** As `writeAtomic`, blocking. */
export function writeAtomicSync(file: string, content: unknown): void {
  replaceFileSync(file, content);
}

async function replaceFile(
  file: string,
  content: unknown,
  beforeRename?: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(toJsonText(content));
    await beforeRename?.(handle);
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

function replaceFileSync(file: string, content: unknown, beforeRename?: (fd: number) => void): void {
  const temporary = `${file}.${process.pid}.tmp`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(fd, toJsonText(content));
    beforeRename?.(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, file);
}

/** The JSON in the file; null when there is no such file, or what it holds is not JSON. */
export async function loadJson<T>(file: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

/** Makes the directory (mode 0700), and its entry in the directory above durable. */
export async function ensureDurableDir(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncDir(path.dirname(dir));
}

/** Makes the entries of the directory durable. */
export async function syncDir(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function toJsonText(content: unknown): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** For `catch`: null in place of what is not there. */
export function unlessMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

/** The names in a directory; none when there is no such directory. */
export async function listNames(dir: string): Promise<string[]> {
  return (await readdir(dir).catch(unlessMissing)) ?? [];
}
