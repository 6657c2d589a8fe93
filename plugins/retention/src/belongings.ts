import type { OwnedTable } from '@svc/kernel';

/** Ids of records, by their kind. */
export type Records = Readonly<Record<string, readonly string[]>>;

/** Rows of one table. Each `?` of their SQL stands for one of `bindings`. */
export interface Belongings extends Pick<OwnedTable, 'table' | 'kind' | 'key' | 'batched'> {
  readonly where: string;
  /** Their keys: a query, or the bindings themselves. */
  readonly keys: string;
  readonly bindings: readonly (string | number)[];
}

type Tables = readonly OwnedTable[];

/** All that goes with the records, and they themselves: rows come before those that they belong to. */
export function belongingsOf(tables: Tables, records: Records): Belongings[] {
  // By their ids: PostgreSQL would read a whole large table to find the rows of what a query gives.
  const others = tables.filter(({ kind }) => !Object.hasOwn(records, kind));
  return Object.entries(records).flatMap(([kind, ids]) => {
    const marks = ids.map(() => '?').join(', ');
    const known = tables.filter((table) => table.kind === kind && ids.length > 0);
    return known.flatMap((table) =>
      withChildren(others, toBelongings(table, `${table.key[0]} in (${marks})`, ids, marks)),
    );
  });
}

/** The rows that keep one of the records, or something that would go with them. */
export function keepersOf(tables: Tables, records: Records): Belongings[] {
  return belongingsOf(tables, records).flatMap(({ kind, keys, bindings }) =>
    tables.flatMap((table) =>
      Object.entries(table.keeps)
        .filter(([, kept]) => kept === kind)
        .map(([column]) => toBelongings(table, `${column} in (${keys}) and ${table.keepsWhile}`, bindings)),
    ),
  );
}

/** The rows that have outlived a record to which they belonged, and are older than `before`, in ms. */
export function orphansOf(tables: Tables, before: number): Belongings[] {
  return tables
    .filter(({ datedBy }) => datedBy !== null)
    .map((owned) => {
      const isOrphaned = Object.entries(owned.of).flatMap(([column, parent]) =>
        tables
          .filter(({ kind }) => kind === parent)
          .map(
            ({ table, key: [id] }) =>
              `${column} is not null and not exists (select 1 from ${table} where ${table}.${id} = ${owned.table}.${column})`,
          ),
      );
      return toBelongings(owned, `${owned.datedBy} < ? and (${isOrphaned.join(' or ')})`, [before]);
    });
}

function withChildren(tables: Tables, rows: Belongings): Belongings[] {
  const children = tables.flatMap((child) =>
    Object.entries(child.of)
      .filter(([, parent]) => parent === rows.kind)
      .flatMap(([column]) =>
        withChildren(tables, toBelongings(child, `${column} in (${rows.keys})`, rows.bindings)),
      ),
  );
  return [...children, rows];
}

function toBelongings(
  { table, kind, key, batched }: OwnedTable,
  where: string,
  bindings: Belongings['bindings'],
  keys = `select ${key.join(', ')} from ${table} where ${where}`,
): Belongings {
  return { table, kind, key, batched, where, keys, bindings };
}
