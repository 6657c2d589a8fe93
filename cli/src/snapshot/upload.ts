import type { Client } from '@svc/client';
import path from 'node:path';
import { Failure } from '../failure.js';
import { toSize } from '../output/format.js';
import { withArchive } from './archive-file.js';
import { KnownTrees } from './known-trees.js';
import { toReadFailure } from './read-failure.js';
import { isThere, sendArchive } from './send-archive.js';
import { refuseData } from './size-check.js';
import { readSourceTree, type SourceTree } from './source-tree.js';

const SHOWN = 6;
const MIB = 1024 * 1024;

export interface UploadOrder {
  readonly directory: string;
  readonly maxMb: number;
  /** Told what comes along and what does not. */
  tell(sentence: string): void;
}

/** Uploads the source tree unless the server has it, and answers its SHA-256. Throws Failure when it is no source tree. */
export async function uploadSnapshot(
  client: Client,
  { directory, maxMb, tell }: UploadOrder,
): Promise<string> {
  const readAt = Date.now();
  const tree = readTree(path.resolve(directory));
  refuseData(tree, maxMb * MIB);
  if (tree.files.length === 0) throw new Failure(`${tree.root} has no files to upload`);
  tell(toSummary(tree));
  const trees = new KnownTrees();
  const known = trees.find(tree);
  if (known !== null && (await isThere(client, known))) return known;
  return withArchive(tree, async (archive, sha256) => {
    await sendArchive(client, { archive, sha256, tell });
    trees.keep(tree, sha256, readAt);
    return sha256;
  });
}

function readTree(directory: string): SourceTree {
  try {
    return readSourceTree(directory);
  } catch (error) {
    throw toReadFailure(error, directory);
  }
}

function toSummary({ root, files, leftOut }: SourceTree): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const what = `snapshot of ${root}: ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${toSize(bytes)}`;
  if (leftOut.length === 0) return what;
  const more = leftOut.length > SHOWN ? ` and ${leftOut.length - SHOWN} more` : '';
  return `${what}; left out: ${leftOut.slice(0, SHOWN).join(', ')}${more}`;
}
