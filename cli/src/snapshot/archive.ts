import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { SourceTree } from './source-tree.js';

const LEVEL = 1;

/** Writes the tree as a gzipped tar and answers its SHA-256. Times are left out: the same files make the same archive. */
export async function writeArchive({ root, files }: SourceTree, target: string): Promise<string> {
  const { create } = await import('tar');
  const options = { cwd: root, portable: true, noMtime: true, noDirRecurse: true };
  const archive = create(
    options,
    files.map(({ name }) => `./${name}`),
  );
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(
    Readable.from(archive as AsyncIterable<Buffer>),
    createGzip({ level: LEVEL }),
    hashing,
    createWriteStream(target, { mode: 0o600 }),
  );
  return hash.digest('hex');
}
