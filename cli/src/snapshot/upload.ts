import { routes } from '@svc/contract';
import { ApiError, type Client } from '@svc/client';
import { toDataDir } from '@svc/client/local-server';
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Failure } from '../failure.js';
import { toSize } from '../output/format.js';
import { writeArchive } from './archive.js';
import { KnownTrees } from './known-trees.js';
import { refuseData } from './size-check.js';
import { readSourceTree, type SourceTree } from './source-tree.js';

const SHOWN = 6;
const MIB = 1024 * 1024;

export interface UploadOrder {
  readonly directory: string;
  readonly maxMb: number;
  /** Of the server; left out: where it is by default. */
  readonly dataDir: string | undefined;
  /** Told what comes along and what does not. */
  tell(sentence: string): void;
}

/** Uploads the source tree unless the server has it, and answers its SHA-256. Throws Failure when it is no source tree. */
export async function uploadSnapshot(
  client: Client,
  { directory, maxMb, dataDir, tell }: UploadOrder,
): Promise<string> {
  const readAt = Date.now();
  const tree = readTree(path.resolve(directory), toDataDir(dataDir));
  refuseData(tree, maxMb * MIB);
  if (tree.files.length === 0) throw new Failure(`${tree.root} has no files to upload`);
  tell(toSummary(tree));
  const trees = new KnownTrees();
  const known = trees.find(tree);
  if (known !== null && (await isThere(client, known))) return known;
  return withArchive(tree, async (archive, sha256) => {
    if (!(await isThere(client, sha256))) await send(client, archive);
    trees.keep(tree, sha256, readAt);
    return sha256;
  });
}

function isThere(client: Client, sha256: string): Promise<boolean> {
  return client.has(routes.getSnapshot, { params: { sha256 } });
}

async function send(client: Client, archive: string): Promise<void> {
  const body = Readable.toWeb(createReadStream(archive)) as ReadableStream<Uint8Array>;
  await client.call(routes.uploadSnapshot, { body }).catch((error: unknown) => {
    throw isTooLarge(error) ? new Failure(toLimit(error, statSync(archive).size), { cause: error }) : error;
  });
}

function isTooLarge(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'payload_too_large';
}

function toLimit({ details }: ApiError, bytes: number): string {
  const limit = details['limit_bytes'];
  const most = typeof limit === 'number' ? `of at most ${toSize(limit)}` : 'of a smaller size';
  return `the snapshot takes ${toSize(bytes)} packed, and the server takes snapshots ${most}. Put what is not source into .svcignore, or raise max_mb of the plugin snapshots in svc.config.ts of the server`;
}

function readTree(directory: string, dataDir: string): SourceTree {
  try {
    return readSourceTree(directory, dataDir);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${directory} cannot be uploaded: ${(error as Error).message}`);
  }
}

async function withArchive<T>(
  tree: SourceTree,
  work: (file: string, sha256: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'svc-snapshot-'));
  try {
    const file = path.join(directory, 'snapshot.tar.gz');
    const sha256 = await writeArchive(tree, file);
    return await work(file, sha256);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function toSummary({ root, files, leftOut }: SourceTree): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const what = `snapshot of ${root}: ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${toSize(bytes)}`;
  if (leftOut.length === 0) return what;
  const more = leftOut.length > SHOWN ? ` and ${leftOut.length - SHOWN} more` : '';
  return `${what}; left out: ${leftOut.slice(0, SHOWN).join(', ')}${more}`;
}
