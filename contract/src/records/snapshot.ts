import { Type, type Static } from 'typebox';
import { Timestamp, strict } from '../route.js';

export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'A SHA-256 in hexadecimal.' });

/** A source tree that was uploaded: a gzipped tar, named by the SHA-256 of its bytes. */
export const Snapshot = strict(
  {
    sha256: Type.String(),
    /** Of the gzipped tar, in bytes. */
    size: Type.Integer(),
    files: Type.Integer(),
    created_at: Timestamp,
  },
  { $id: 'Snapshot' },
);
export type Snapshot = Static<typeof Snapshot>;
