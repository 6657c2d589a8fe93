import type { GarbageReport } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import { orphansOf } from './belongings.js';
import { removeOrphans } from './hooks.js';
import { NO_LOGS, type LogFolders } from './log-folders.js';
import { countRows, deleteInSlices } from './rows.js';

type OrphanCount = GarbageReport['orphans'];

export const NO_ORPHANS: OrphanCount = { events: 0, ...NO_LOGS, snapshots: 0, snapshot_bytes: 0 };

const ASKED_AT_ONCE = 500;

type Tables = Pick<PluginContext, 'db' | 'registered'>;
type Around = Tables & Pick<PluginContext, 'fire'>;

/** What belongs to nothing any more and is older than `before`: logs of a job that a restored database does not know, for example. */
export async function clearOrphans(
  ctx: Around,
  logs: LogFolders,
  before: number,
  { dryRun }: { readonly dryRun: boolean },
): Promise<OrphanCount> {
  let events = 0;
  for (const rows of orphansOf(ctx.registered.tables, before)) {
    if (rows.kind === 'event') events = await countRows(ctx.db, [rows]);
    if (!dryRun) await deleteInSlices(ctx.db, rows);
  }
  let counted = NO_LOGS;
  for (const jobId of await orphanedFolders(ctx, logs, before)) {
    const { log_files, log_bytes } = await logs.count(jobId);
    counted = { log_files: counted.log_files + log_files, log_bytes: counted.log_bytes + log_bytes };
    if (!dryRun) await logs.remove(jobId);
  }
  const others = await ctx.fire(removeOrphans, { before, dryRun });
  return Object.assign({ ...NO_ORPHANS, events, ...counted }, ...others) as OrphanCount;
}

async function orphanedFolders(
  { db, registered }: Tables,
  logs: LogFolders,
  before: number,
): Promise<string[]> {
  const folders = await logs.unchangedSince(before);
  const known = new Set<string>();
  for (const { table } of registered.tables.filter(({ kind }) => kind === 'job'))
    for (let start = 0; start < folders.length; start += ASKED_AT_ONCE) {
      const ids = folders.slice(start, start + ASKED_AT_ONCE);
      for (const id of await db(table).whereIn('id', ids).pluck('id')) known.add(id as string);
    }
  return folders.filter((id) => !known.has(id));
}
