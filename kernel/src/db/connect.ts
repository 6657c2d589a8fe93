import type { Knex } from 'knex';

/** A knex instance or a transaction. Repositories take it as a parameter. */
export type Db = Knex;
