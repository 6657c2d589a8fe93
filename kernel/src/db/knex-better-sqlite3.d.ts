/** What we use of knex's own client, which comes without types. */
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex';

  export default class BetterSqlite3Client extends (null as unknown as typeof Knex.Client) {
    /** For the pool, which has called it. */
    acquireRawConnection(): Promise<import('better-sqlite3').Database>;
    /** Prepares the statement on the connection and runs it. */
    _query(connection: { prepare(sql: string): unknown }, query: object): Promise<object>;
  }
}
