import type { Migration } from '@svc/kernel';

export const projectsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('projects', (table) => {
        table.string('id', 40).primary();
        table.text('name').notNullable().unique();
        table.text('description').notNullable();
        table.bigInteger('created_at').notNullable().index();
      });
      await db.schema.createTable('experiments', (table) => {
        table.string('id', 40).primary();
        table
          .string('project_id', 40)
          .notNullable()
          .references('id')
          .inTable('projects')
          .onDelete('RESTRICT');
        table.text('name').notNullable();
        table.text('description').notNullable();
        table.bigInteger('created_at').notNullable().index();
        table.unique(['project_id', 'name']);
      });
    },
  },
];
