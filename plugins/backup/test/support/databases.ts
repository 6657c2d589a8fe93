import Database from 'better-sqlite3';
import { readFileSync, writeFileSync } from 'node:fs';

/** With the mark of ours, and some hundred KB. */
export function makeDatabase(filename: string): void {
  const db = new Database(filename);
  db.pragma('journal_mode = WAL');
  db.exec("create table svc_migrations (name text); insert into svc_migrations values ('jobs/0001-init')");
  db.exec('create table t (id integer primary key, text text)');
  db.exec(
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, 'row ' || i from n",
  );
  db.close();
}

/** Overwrites a page in the middle. */
export function damage(filename: string): void {
  const bytes = readFileSync(filename);
  bytes.fill(0x5a, 40 * 4096, 42 * 4096);
  writeFileSync(filename, bytes);
}
