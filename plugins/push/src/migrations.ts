import type { Migration } from '@svc/kernel';

export const pushMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('push_deliveries', (table) => {
        table.string('id', 40).primary();
        table.string('event_id', 40).notNullable();
        table.string('target', 100).notNullable();
        table.string('status', 16).notNullable();
        table.integer('tries').notNullable();
        table.text('last_error');
        table.bigInteger('created_at').notNullable();
        table.bigInteger('next_try_at');
        table.bigInteger('finished_at');
        table.unique(['event_id', 'target']);
        table.index(['target', 'status', 'next_try_at']);
        table.index(['created_at', 'id']);
        table.index(['finished_at']);
      });
      await db.schema.createTable('push_cursors', (table) => {
        table.string('target', 100).primary();
        // Of the last event for which the target has its deliveries: later ones are still to be looked at.
        table.bigInteger('position').notNullable();
      });
    },
  },
];
