import type { Migration } from '@svc/kernel';

export const failuresMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('failure_logs', (table) => {
        table.string('job_id', 40).notNullable().references('jobs.id').onDelete('CASCADE');
        table.integer('attempt').notNullable();
        table.text('lines').notNullable();
        table.primary(['job_id', 'attempt']);
      });
    },
  },
];
