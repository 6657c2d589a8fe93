import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';

/** Replaces the file by the JSON, so that a reader, or a host that loses power, finds the old content or the new. Mode 0600. */
export async function writeDurable(file: string, content: unknown): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(toJsonText(content));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncDir(path.dirname(file));
}

/** As `writeDurable`, blocking. */
export function writeDurableSync(file: string, content: unknown): void {
  const temporary = `${file}.${process.pid}.tmp`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(fd, toJsonText(content));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, file);
  const dir = openSync(path.dirname(file), 'r');
  try {
    fsyncSync(dir);
  } finally {
    closeSync(dir);
  }
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

async function syncDir(dir: string): Promise<void> {
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
