import { MAX_SNAPSHOT_BYTES, MIB } from '@svc/contract';
import { Type } from 'typebox';

export const snapshotsOptions = Type.Object(
  {
    max_mb: Type.Integer({
      minimum: 1,
      maximum: 4096,
      default: MAX_SNAPSHOT_BYTES / MIB,
      description: 'A snapshot may take so many MiB as a gzipped tar.',
    }),
    max_unpacked_mb: Type.Integer({
      minimum: 1,
      default: 2048,
      description: 'The files of a snapshot may take so many MiB together.',
    }),
    max_files: Type.Integer({
      minimum: 1,
      default: 100_000,
      description: 'A snapshot may have so many files.',
    }),
  },
  { additionalProperties: false },
);
