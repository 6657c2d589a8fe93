import type { Migration } from '@svc/kernel';

export const authMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('tokens', (table) => {
        table.string('id', 40).primary();
        table.string('hash', 64).notNullable().unique();
        table.text('name').notNullable();
        table.string('scope', 16).notNullable();
        table.bigInteger('created_at').notNullable();
        table.bigInteger('expires_at');
        table.bigInteger('last_used_at');
        table.bigInteger('revoked_at');
        // Set for run ingest tokens alone: (job_id, attempt), or run_id.
        table.string('job_id', 40);
        table.integer('attempt');
        table.string('run_id', 40);
        table.index(['job_id', 'attempt']);
        table.index(['run_id']);
      });
      await db.schema.createTable('sign_in_links', (table) => {
        table.string('code_hash', 64).primary();
        table.bigInteger('expires_at').notNullable();
      });
    },
  },
  {
    // For the list of the operators' tokens, among which there may be any number of ingest tokens.
    name: '0002-operator-tokens',
    async up(db) {
      await db.raw(`create index tokens_of_operators on tokens (created_at, id)
        where job_id is null and run_id is null`);
    },
  },
];
