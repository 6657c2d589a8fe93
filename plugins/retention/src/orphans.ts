import type { PluginContext } from '@svc/kernel';
import { orphansOf } from './belongings.js';
import { NO_LOGS, type LogCount, type LogFolders } from './log-folders.js';
import { countRows, deleteInSlices } from './rows.js';

export interface OrphanCount extends LogCount {
  readonly events: number;
}

export const NO_ORPHANS: OrphanCount = { events: 0, ...NO_LOGS };

const ASKED_AT_ONCE = 500;

type Tables = Pick<PluginContext, 'db' | 'registered'>;

/** What belongs to nothing any more and is older than `before`: logs of a job that a restored database does not know, for example. */
export async function clearOrphans(
  ctx: Tables,
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
  return { events, ...counted };
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
