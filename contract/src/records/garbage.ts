import { Type, type Static } from 'typebox';
import type { REMOVABLE_STATES } from '../protocol/enums.js';
import { Timestamp, strict } from '../route.js';

export type RemovableState = (typeof REMOVABLE_STATES)[number];

const RemovalCounts = {
  jobs: Type.Integer(),
  runs: Type.Integer(),
  points: Type.Integer(),
  checkpoints: Type.Integer({ description: 'Records; the files on the agents stay.' }),
  events: Type.Integer(),
  log_files: Type.Integer(),
  log_bytes: Type.Integer(),
};

/** A job with its attempts and runs, or a run that has no job. */
export const Removal = strict(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.String(),
    finished_at: Timestamp,
    ...RemovalCounts,
  },
  { $id: 'Removal' },
);
export type Removal = Static<typeof Removal>;

export const GarbageReport = strict(
  {
    dry_run: Type.Boolean(),
    before: Timestamp,
    /** What goes, or has gone, oldest first; the totals count more than are listed when there are very many. */
    items: Type.Array(Removal),
    totals: strict(RemovalCounts),
    orphans: strict({
      events: Type.Integer(),
      log_files: Type.Integer(),
      log_bytes: Type.Integer(),
      snapshots: Type.Integer({ description: 'Uploaded source trees that no job names any more.' }),
      snapshot_bytes: Type.Integer(),
    }),
    /** Finished long enough ago, and spared for the tag. */
    kept: Type.Integer(),
    freed_bytes: Type.Integer({ description: 'By which the files of the database have become smaller.' }),
    /** False: the time for one request is over; the same request goes on. */
    complete: Type.Boolean(),
  },
  { $id: 'GarbageReport' },
);
export type GarbageReport = Static<typeof GarbageReport>;
