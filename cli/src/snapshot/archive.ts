import { hashing } from '@svc/plugin-snapshots/hashing';
import type { Stats } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { toReadFailure } from './read-failure.js';
import type { SourceTree } from './source-tree.js';

const LEVEL = 1;
/** Each is compressed by itself, so that all processors take part: a gzip may have several members. */
const MEMBER_BYTES = 4 * 1024 * 1024;
const MEMBERS_AT_ONCE = 4;
/** Files that are read at the same time. */
const JOBS = 16;
const compressMember = promisify(gzip);
/** Each name of a file becomes a file: tar waits for ever when more names of files with several wait than it has jobs. */
const withoutHardLinks = (_name: string, stats: unknown): boolean => {
  (stats as Stats).nlink = 1;
  return true;
};

/**
 * Gives the tree as a gzipped tar to `write` and returns its SHA-256. Times are left out: the same files make the same archive. Throws Failure for a
 * file that cannot be read, or that changes meanwhile.
 */
export async function writeArchive(
  { root, files }: SourceTree,
  write: (archive: AsyncIterable<Buffer>) => Promise<void>,
): Promise<string> {
  const { create } = await import('tar');
  const options = {
    cwd: root,
    portable: true,
    noMtime: true,
    noDirRecurse: true,
    jobs: JOBS,
    filter: withoutHardLinks,
  };
  const archive = create(
    options,
    files.map(({ name }) => `./${name}`),
  ) as AsyncIterable<Buffer>;
  let sha256 = '';
  const hashed = hashing((content) => void (sha256 = content));
  await pipeline(compress(archive), hashed, write).catch((error) => {
    throw toReadFailure(error, root);
  });
  return sha256;
}

async function* compress(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const members: Promise<Buffer>[] = [];
  for await (const block of inBlocks(chunks)) {
    members.push(compressMember(block, { level: LEVEL }));
    if (members.length > MEMBERS_AT_ONCE) yield await (members.shift() as Promise<Buffer>);
  }
  for (const member of members) yield await member;
}

/** Of MEMBER_BYTES each; the last may be smaller. Equal trees have equal blocks, however they were read. */
async function* inBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    rest.push(chunk);
    bytes += chunk.length;
    if (bytes < MEMBER_BYTES) continue;
    const whole = Buffer.concat(rest);
    const end = whole.length - (whole.length % MEMBER_BYTES);
    for (let at = 0; at < end; at += MEMBER_BYTES) yield whole.subarray(at, at + MEMBER_BYTES);
    rest = [whole.subarray(end)];
    bytes = whole.length - end;
  }
  yield Buffer.concat(rest);
}
