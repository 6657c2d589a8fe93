import type { Migration } from '@svc/kernel';

export const snapshotsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('snapshots', (table) => {
        table.string('sha256', 64).primary();
        table.bigInteger('size').notNullable();
        table.integer('files').notNullable();
        table.bigInteger('created_at').notNullable().index();
      });
    },
  },
];
