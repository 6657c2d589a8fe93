import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { toArchive } from '../../plugins/snapshots/test/support/archives.js';
import type { HostileBody } from './hostile-bodies.js';

const MIB = 1024 * 1024;
const LARGE_BYTES = 20 * MIB;
const BOMB_BYTES = 512 * MIB;
/** More than a snapshot may have. */
const MANY_FILES = 100_001;

/** Uploads that no server takes: what is no archive, and what becomes too much once it is unpacked. */
export function hostileUploads(): HostileBody[] {
  const manyFiles = toArchive(Array.from({ length: MANY_FILES }, (_, at) => ({ path: `f${at}` })));
  const uploads: readonly (readonly [label: string, body: Buffer])[] = [
    ['nothing', Buffer.alloc(0)],
    ['random bytes', randomBytes(LARGE_BYTES)],
    [
      'random bytes behind the head of a gzip',
      Buffer.concat([gzipSync('x').subarray(0, 10), randomBytes(LARGE_BYTES)]),
    ],
    ['a gzip of zeros', gzipSync(Buffer.alloc(BOMB_BYTES))],
    ['an archive of very many files', manyFiles],
    ['an archive that says to be of 4 GiB', toArchive([{ path: 'f', size: 4 * 1024 * MIB }])],
    ['the path of a file outside', toArchive([{ path: '../../f' }])],
  ];
  return [
    { label: 'JSON', body: '{}' },
    ...uploads.map(([label, body]) => ({ label, body, headers: { 'content-type': 'application/gzip' } })),
  ];
}
