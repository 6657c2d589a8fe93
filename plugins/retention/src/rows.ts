import type { Db } from '@svc/kernel';
import type { Belongings } from './belongings.js';
import { inSlices } from './pace.js';

/** Deletes them in slices, each a transaction of its own. */
export async function deleteInSlices(db: Db, { table, key, where, bindings }: Belongings): Promise<void> {
  await inSlices((limit) =>
    db.transaction(async (trx) => {
      const startedMs = performance.now();
      const some = trx(table)
        .select(...key)
        .whereRaw(where, [...bindings])
        .limit(limit);
      const done = await trx(table)
        .whereIn([...key], some)
        .delete();
      return { done, startedMs };
    }),
  );
}

/** Deletes all of them at once. */
export async function deleteAtOnce(db: Db, { table, where, bindings }: Belongings): Promise<void> {
  await db(table)
    .whereRaw(where, [...bindings])
    .delete();
}

/** How many rows of one table there are; one that belongs in two ways counts once. */
export async function countRows(db: Db, rows: readonly Belongings[]): Promise<number> {
  if (rows.length === 0) return 0;
  const keys = rows.map((some) => some.keys).join(' union ');
  const found = db.raw(
    `(${keys}) as found`,
    rows.flatMap(({ bindings }) => bindings),
  );
  const row = await db(found).count({ count: '*' }).first();
  return Number(row?.['count']);
}
