import type { Migration } from '@svc/kernel';

export const eventsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('events', (table) => {
        table.string('id', 40).primary();
        // The order in which streams show events; null until published. Ids cannot say it: the transaction of a
        // lower id may commit after that of a higher one, and who resumed behind the higher would never see it.
        table.bigInteger('position').unique();
        table.text('type').notNullable();
        table.string('severity', 16).notNullable();
        table.text('title').notNullable();
        table.text('message').notNullable();
        table.string('run_id', 40);
        table.string('job_id', 40);
        table.string('node_id', 40);
        table.text('data').notNullable();
        table.bigInteger('created_at').notNullable();
        table.index(['created_at', 'id']);
        for (const reference of ['run_id', 'job_id', 'node_id']) table.index([reference, 'created_at']);
      });
    },
  },
  {
    name: '0002-reported-once',
    async up(db) {
      await db.schema.alterTable('events', (table) => {
        // The reporter's own name for an event of its run, so that one told twice is stored once. Null: it gave none.
        table.string('report_key', 255);
        table.unique(['run_id', 'report_key']);
      });
    },
  },
];
