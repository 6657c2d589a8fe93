import type { PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { OrphanOrder } from '@svc/plugin-retention';
import type { SnapshotStore } from './store.js';

const ASKED_AT_ONCE = 500;

/** Removes the snapshots that were not used for long enough and that no job names, and counts them. */
export async function removeUnused(
  ctx: Pick<PluginContext, 'db' | 'transaction'>,
  store: SnapshotStore,
  jobs: Pick<Jobs, 'snapshotsInUse'>,
  { before, dryRun }: OrphanOrder,
): Promise<{ snapshots: number; snapshot_bytes: number }> {
  const counted = { snapshots: 0, snapshot_bytes: 0 };
  const old = await store.unusedSince(ctx.db, before);
  for (let start = 0; start < old.length; start += ASKED_AT_ONCE) {
    const some = old.slice(start, start + ASKED_AT_ONCE);
    const used = await jobs.snapshotsInUse(
      ctx.db,
      some.map(({ sha256 }) => sha256),
    );
    for (const { sha256, size } of some.filter((snapshot) => !used.has(snapshot.sha256))) {
      // It may have been used since it was looked for.
      const isInUse = async (tx: typeof ctx.db) => (await jobs.snapshotsInUse(tx, [sha256])).size > 0;
      if (!dryRun && !(await store.remove(ctx.transaction, sha256, before, isInUse))) continue;
      counted.snapshots += 1;
      counted.snapshot_bytes += size;
    }
  }
  return counted;
}
