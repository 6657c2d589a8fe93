import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** The bytes of a file, or of all files below a directory. Rejects where there is nothing. */
export async function sizeBytesOf(file: string): Promise<number> {
  const facts = await stat(file);
  if (!facts.isDirectory()) return facts.size;
  let sizeBytes = 0;
  for (const entry of await readdir(file, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sizeBytes += (await stat(path.join(entry.parentPath, entry.name))).size;
  }
  return sizeBytes;
}
