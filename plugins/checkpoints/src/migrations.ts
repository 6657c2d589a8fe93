import type { Migration } from '@svc/kernel';

export const checkpointsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('checkpoints', (table) => {
        table.string('id', 40).primary();
        table.string('run_id', 40).notNullable().references('runs.id').onDelete('CASCADE');
        // Digest of path and step. Of the columns themselves no index can be unique: a path may be longer than
        // PostgreSQL takes into one, and two steps that are null differ.
        table.string('digest', 64).notNullable();
        table.bigInteger('step');
        table.double('epoch');
        table.bigInteger('size');
        table.text('path').notNullable();
        table.text('metadata').notNullable();
        table.string('source', 16).notNullable();
        table.bigInteger('created_at').notNullable();
        table.unique(['run_id', 'digest']);
        table.index(['run_id', 'created_at']);
      });
    },
  },
  {
    name: '0002-deleted',
    async up(db) {
      await db.schema.alterTable('checkpoints', (table) => table.bigInteger('deleted_at'));
    },
  },
  {
    name: '0003-newest',
    async up(db) {
      await db.schema.alterTable('checkpoints', (table) => table.index(['created_at']));
    },
  },
];
