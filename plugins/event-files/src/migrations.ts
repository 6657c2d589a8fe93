import type { Migration } from '@svc/kernel';

export const eventFilesMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('found_metrics', (table) => {
        table.string('run_id', 40).notNullable().references('runs.id').onDelete('CASCADE');
        table.string('name', 250).notNullable();
        // The training reports it itself: what is found of it in files is left out.
        table.boolean('is_reported').notNullable();
        table.primary(['run_id', 'name']);
      });
    },
  },
];
