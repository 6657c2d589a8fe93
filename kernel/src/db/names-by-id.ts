import type { Db } from './connect.js';

/** The names of those of these rows that the table has, by their ids: at most as many ids as a statement takes. */
export async function namesById(
  db: Db,
  table: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db<{ id: string; name: string }>(table)
    .whereIn('id', [...ids])
    .select('id', 'name');
  return new Map(rows.map(({ id, name }) => [id, name]));
}
