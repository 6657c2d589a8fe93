import type { Db } from '@svc/kernel';
import type { Belonging } from './belongings.js';
import { NO_LOGS, type LogCount, type LogFolders } from './log-folders.js';
import { countRows, deleteMany } from './rows.js';

export interface OrphanCount extends LogCount {
  readonly events: number;
}

export const NO_ORPHANS: OrphanCount = { events: 0, ...NO_LOGS };

const ASKED_AT_ONCE = 500;

/** Events of jobs and runs that are no more; `:ids` is the time before which they were told. */
const EVENTS: Belonging = {
  table: 'events',
  key: ['id'],
  where: `created_at < cast(:ids as bigint) and (
    (job_id is not null and not exists (select 1 from jobs where jobs.id = events.job_id)) or
    (run_id is not null and not exists (select 1 from runs where runs.id = events.run_id)))`,
};

/** What belongs to nothing any more and is older than `before`: logs of a job that a restored database does not know, for example. */
export async function clearOrphans(
  db: Db,
  logs: LogFolders,
  before: number,
  { dryRun }: { readonly dryRun: boolean },
): Promise<OrphanCount> {
  const events = await countRows(db, EVENTS, [String(before)]);
  if (!dryRun) await deleteMany(db, EVENTS, [String(before)]);
  let counted = NO_LOGS;
  for (const jobId of await orphanedFolders(db, logs, before)) {
    const { log_files, log_bytes } = await logs.count(jobId);
    counted = { log_files: counted.log_files + log_files, log_bytes: counted.log_bytes + log_bytes };
    if (!dryRun) await logs.remove(jobId);
  }
  return { events, ...counted };
}

async function orphanedFolders(db: Db, logs: LogFolders, before: number): Promise<string[]> {
  const folders = await logs.unchangedSince(before);
  const known = new Set<string>();
  for (let start = 0; start < folders.length; start += ASKED_AT_ONCE) {
    const ids = folders.slice(start, start + ASKED_AT_ONCE);
    for (const id of await db('jobs').whereIn('id', ids).pluck('id')) known.add(id as string);
  }
  return folders.filter((id) => !known.has(id));
}
