import type { Migration } from '@svc/kernel';

export const retentionMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      // What has been decided to go: a server that dies over it, or the next one, finishes it.
      await db.schema.createTable('removals', (table) => {
        table.string('id', 40).primary();
        table.bigInteger('decided_at').notNullable();
      });
    },
  },
];
