import type { Db } from '@svc/kernel';
import type { Belonging } from './belongings.js';
import { inSlices } from './pace.js';

/** Deletes them in slices, each a transaction of its own. */
export async function deleteMany(db: Db, belonging: Belonging, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await inSlices((limit) => deleteSome(db, belonging, ids, limit));
}

/** Deletes all of them at once. */
export async function deleteFew(db: Db, { table, where }: Belonging, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await db(table)
      .whereRaw(...bind(where, ids))
      .delete();
}

export async function countRows(
  db: Db,
  { table, where }: Belonging,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const row = await db(table)
    .whereRaw(...bind(where, ids))
    .count({ count: '*' })
    .first();
  return Number(row?.['count']);
}

async function deleteSome(
  db: Db,
  { table, key, where }: Belonging,
  ids: readonly string[],
  limit: number,
): Promise<number> {
  const [sql, bindings] = bind(where, ids);
  const some = db(table)
    .select(...key)
    .whereRaw(sql, bindings)
    .limit(limit);
  return db(table)
    .whereIn([...key], some)
    .delete();
}

function bind(where: string, ids: readonly string[]): [sql: string, bindings: string[]] {
  return [where.replace(':ids', ids.map(() => '?').join(', ')), [...ids]];
}
