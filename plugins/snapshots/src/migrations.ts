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
  {
    name: '0002-used-at',
    async up(db) {
      await db.schema.alterTable('snapshots', (table) => {
        table.bigInteger('used_at').notNullable().defaultTo(0).index();
        table.dropIndex(['created_at']);
      });
      await db('snapshots').update({ used_at: db.ref('created_at') });
    },
  },
];
