import { dialectOf, withRawSqlite, type Db } from '@svc/kernel';

type Query<Row> = PromiseLike<Row[]> & {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
};

/**
 * The rows of a query that may give many, in its order. On SQLite below knex, each row as one text: to have the driver make a
 * value of each column takes longer than to read it. Columns and bindings: text and numbers.
 */
export async function selectRows<Row extends object>(db: Db, query: Query<Row>): Promise<Row[]> {
  if (dialectOf(db) !== 'sqlite') return query;
  const { sql, bindings } = query.toSQL().toNative();
  return withRawSqlite(db, (sqlite) => {
    const names = sqlite
      .prepare(sql)
      .columns()
      .map(({ name }) => name);
    const row = names.map((name) => `"${name}"`).join();
    const texts = sqlite
      .prepare(`select json_array(${row}) from (${sql})`)
      .pluck()
      .all(...bindings);
    // JSON.parse makes an object whose fields stay quick to read, a loop of assignments does not.
    const empty = JSON.parse(`{${names.map((name) => `"${name}":null`).join()}}`) as object;
    return (JSON.parse(`[${texts.join()}]`) as unknown[][]).map(
      (values) => fill({ ...empty }, names, values) as Row,
    );
  });
}

function fill(row: Record<string, unknown>, names: readonly string[], values: readonly unknown[]): object {
  for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
  return row;
}
