import { dialectOf, withRawSqlite, type Db } from '@svc/kernel';
import { inSlices } from './pace.js';

/** Less than this is left to be filled again: 1 MiB. */
const WORTHWHILE_PAGES = 256;

/**
 * Gives the free pages of an SQLite file back to the system, in slices. Returns by how many bytes the file gets smaller. PostgreSQL's
 * autovacuum makes room for new rows by itself.
 */
export async function freeSpace(db: Db): Promise<number> {
  if (dialectOf(db) !== 'sqlite') return 0;
  const pragma = (name: string): Promise<number> =>
    withRawSqlite(db, (connection) => connection.pragma(name, { simple: true }) as number);
  const before = await pragma('page_count');
  if ((await pragma('freelist_count')) >= WORTHWHILE_PAGES) {
    await inSlices(async (limit) => {
      const free = await pragma('freelist_count');
      const startedMs = await withRawSqlite(db, (connection) => {
        const atMs = performance.now();
        connection.pragma(`incremental_vacuum(${limit})`);
        return atMs;
      });
      return { done: free - (await pragma('freelist_count')), startedMs };
    });
  }
  return (before - (await pragma('page_count'))) * (await pragma('page_size'));
}
