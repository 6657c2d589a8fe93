import { mkdtemp, open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Failure } from '../failure.js';
import { writeArchive } from './archive.js';
import type { SourceTree } from './source-tree.js';

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Packs the tree into a temporary file and gives it to `work`. The file has no name, so the system removes it with the process,
 * however that ends. Throws Failure when the directory for temporary files does not take it.
 */
export async function withArchive<T>(
  tree: SourceTree,
  work: (archive: FileHandle, sha256: string) => Promise<T>,
): Promise<T> {
  const archive = await openNameless();
  try {
    const sha256 = await writeArchive(tree, (chunks) => writeFile(archive, chunks)).catch(
      (error: unknown) => {
        throw isNoRoom(error) ? toFailure(error) : error;
      },
    );
    return await work(archive, sha256);
  } finally {
    await archive.close();
  }
}

async function openNameless(): Promise<FileHandle> {
  let directory = '';
  try {
    directory = await mkdtemp(path.join(os.tmpdir(), 'svc-snapshot-'));
    return await open(path.join(directory, 'snapshot.tar.gz'), 'wx+', 0o600);
  } catch (error) {
    throw toFailure(error);
  } finally {
    if (directory !== '') await rm(directory, { recursive: true, force: true });
  }
}

function isNoRoom(error: unknown): boolean {
  return NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '');
}

function toFailure(error: unknown): Failure {
  const what = isNoRoom(error) ? 'there is no room' : `no file can be made (${(error as Error).message})`;
  return new Failure(
    `${what} in ${os.tmpdir()}, where svc packs the files before it sends them: free some space, or set TMPDIR to another directory`,
  );
}
