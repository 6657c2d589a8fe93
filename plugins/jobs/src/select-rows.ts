import { dialectOf, withRawSqlite, type Db } from '@svc/kernel';

type Query<Row> = PromiseLike<Row[]> & {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
};

/**
 * The rows of a query that may give many. On SQLite below knex, as lists of values: to have the driver make an object of each
 * row takes longer than to read it. Bindings: text and numbers.
 */
export async function selectRows<Row extends object>(db: Db, query: Query<Row>): Promise<Row[]> {
  if (dialectOf(db) !== 'sqlite') return query;
  const { sql, bindings } = query.toSQL().toNative();
  return withRawSqlite(db, (sqlite) => {
    const statement = sqlite.prepare<unknown[]>(sql).raw();
    const names = statement.columns().map(({ name }) => name);
    // JSON.parse makes an object whose fields stay quick to read, a loop of assignments does not.
    const empty = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join()}}`) as object;
    return (statement.all(...bindings) as unknown[][]).map(
      (values) => fill({ ...empty }, names, values) as Row,
    );
  });
}

function fill(row: Record<string, unknown>, names: readonly string[], values: readonly unknown[]): object {
  for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
  return row;
}
