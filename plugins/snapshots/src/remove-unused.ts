import type { Db } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { OrphanOrder } from '@svc/plugin-retention';
import type { SnapshotStore } from './store.js';

const ASKED_AT_ONCE = 500;

/** Removes the snapshots that are old enough and that no job names, and counts them. */
export async function removeUnused(
  db: Db,
  store: SnapshotStore,
  jobs: Pick<Jobs, 'snapshotsInUse'>,
  { before, dryRun }: OrphanOrder,
): Promise<{ snapshots: number; snapshot_bytes: number }> {
  const counted = { snapshots: 0, snapshot_bytes: 0 };
  const old = await store.olderThan(db, before);
  for (let start = 0; start < old.length; start += ASKED_AT_ONCE) {
    const some = old.slice(start, start + ASKED_AT_ONCE);
    const used = await jobs.snapshotsInUse(
      db,
      some.map(({ sha256 }) => sha256),
    );
    for (const { sha256, size } of some.filter((snapshot) => !used.has(snapshot.sha256))) {
      if (!dryRun) await store.remove(db, sha256);
      counted.snapshots += 1;
      counted.snapshot_bytes += size;
    }
  }
  return counted;
}
