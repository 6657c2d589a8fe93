import type { Migration } from '@svc/kernel';

export const evaluationsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('evaluations', (table) => {
        table.string('id', 40).primary();
        table.string('checkpoint_id', 40).notNullable().references('checkpoints.id').onDelete('CASCADE');
        table.string('run_id', 40).notNullable().references('runs.id').onDelete('CASCADE');
        // Without a reference: a result outlives the record of the job that found it.
        table.string('job_id', 40).notNullable().unique();
        table.integer('attempt').notNullable();
        for (const label of ['suite', 'dataset', 'dataset_version']) table.string(label, 200);
        table.string('status', 16).notNullable();
        table.text('metrics').notNullable();
        table.double('runtime_s');
        table.integer('result_attempt');
        table.text('error');
        table.bigInteger('created_at').notNullable();
        table.bigInteger('awaited_since');
        table.bigInteger('finished_at');
        for (const owner of ['checkpoint_id', 'run_id']) table.index([owner, 'created_at']);
        table.index(['created_at']);
        // Not of the status: SQLite would use it to find those of a run.
        table.index(['awaited_since']);
      });
    },
  },
];
