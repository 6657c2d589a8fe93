import { expect } from 'chai';
import type { Rig } from '../../../runs/test/support/rig.js';

/** The job or run is in no table, whatever it is. */
export async function expectNoTrace(rig: Rig, id: string): Promise<void> {
  for (const [table, columns] of await tablesWith(rig, ['job_id', 'run_id']))
    for (const column of columns)
      expect(await rig.kernel.db(table).where({ [column]: id }), `${table}.${column}`).to.deep.equal([]);
}

/** The tables that have one of these columns, with those that they have. */
export async function tablesWith({ kernel }: Rig, wanted: readonly string[]): Promise<Map<string, string[]>> {
  const isSqlite = (kernel.db.client as { dialect: string }).dialect !== 'postgresql';
  const rows: { table: string; column: string }[] = isSqlite
    ? await kernel.db.raw(
        `select m.name as "table", c.name as "column" from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table'`,
      )
    : (
        await kernel.db.raw(
          `select table_name as "table", column_name as "column" from information_schema.columns where table_schema = 'public'`,
        )
      ).rows;
  const found = new Map<string, string[]>();
  for (const { table, column } of rows)
    if (wanted.includes(column)) found.set(table, [...(found.get(table) ?? []), column]);
  return found;
}
