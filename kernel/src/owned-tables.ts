import { ID_PREFIXES } from '@svc/contract';
import { Collection, failBoot } from '@svc/hooks';
import type { Db } from './db/connect.js';
import { dialectOf } from './db/dialect.js';

/**
 * A table of a plugin, and the records with which its rows go. Records are named by their kind: one of `ID_PREFIXES`, what a plugin gives as
 * the `kind` of its table, or the name of another table of the same plugin.
 */
export interface TableDeclaration {
  readonly table: string;
  /** What one row is to other plugins. Left out: nothing. */
  readonly kind?: string;
  /** The columns of its key, one where others refer to it. Left out: `id`. */
  readonly key?: readonly string[];
  /** Columns that hold the key of a record, with its kind: the row is removed with that record. */
  readonly of?: Readonly<Record<string, string>>;
  /** There may be so many rows of one record that they are removed in slices, before it. */
  readonly batched?: boolean;
  /** Columns as in `of`: that record stays as long as there is such a row. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** SQL that says which rows keep their records. Left out: all of them. */
  readonly keepsWhile?: string;
  /** The column with the time, in ms, of rows that may outlive the records in `of`: by it they are removed then. */
  readonly datedBy?: string | null;
}

/** A declaration with all that it leaves out. */
export interface OwnedTable extends Required<TableDeclaration> {
  readonly plugin: string;
}

const LEFT_OUT = { key: ['id'], of: {}, batched: false, keeps: {}, keepsWhile: 'true', datedBy: null };

/** Which plugin owns which table. */
export class OwnedTables {
  readonly #byName = new Collection<OwnedTable>('table');
  readonly #byKind = new Collection<OwnedTable>('kind of record');

  /** Refuses a table, and a kind, that has an owner. */
  add(plugin: string, declaration: TableDeclaration): void {
    const { table, kind = table } = declaration;
    const owned = { ...LEFT_OUT, ...declaration, kind, plugin };
    this.#byName.add(plugin, table, owned);
    this.#byKind.add(plugin, kind, owned);
  }

  /** All of them. Refuses one that the migrated database does not have, and one that names records which nobody has. */
  async freeze(db: Db): Promise<readonly OwnedTable[]> {
    const existing = await listTables(db);
    const tables = [...this.#byName.freeze().values()];
    for (const { plugin, table, of, keeps } of tables) {
      if (!existing.includes(table))
        failBoot(
          `plugin "${plugin}" owns the table "${table}", which is not there after its migrations`,
          plugin,
        );
      for (const kind of [...Object.values(of), ...Object.values(keeps)]) this.#check(plugin, table, kind);
    }
    return tables;
  }

  /** Where a plugin is not configured, nobody may have a kind of record that the contract knows. */
  #check(plugin: string, table: string, kind: string): void {
    const record = this.#byKind.get(kind);
    const what = `plugin "${plugin}" says that rows of "${table}" go with "${kind}"`;
    if (!record && !Object.hasOwn(ID_PREFIXES, kind))
      failBoot(`${what}, which is no kind of record of any plugin`, plugin);
    if (record?.table === table) failBoot(`${what}: rows cannot go with others of their own table`, plugin);
    if (record?.table === kind && record.plugin !== plugin)
      failBoot(`${what}, a table of plugin "${record.plugin}": name the kind of its records`, plugin);
  }
}

/** Of the schema that the database is in. */
export async function listTables(db: Db): Promise<string[]> {
  return dialectOf(db) === 'sqlite'
    ? db('sqlite_schema').where({ type: 'table' }).pluck('name')
    : db('pg_tables').whereRaw('schemaname = current_schema()').pluck('tablename');
}
