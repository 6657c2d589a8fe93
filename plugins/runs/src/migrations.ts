import { fromJson, toSearchName, type Db, type Migration } from '@svc/kernel';

export const runsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('runs', (table) => {
        table.string('id', 40).primary();
        table.text('name').notNullable();
        table.string('project_id', 40).references('projects.id');
        table.string('experiment_id', 40).references('experiments.id');
        table.string('job_id', 40).references('jobs.id');
        table.integer('attempt');
        table.string('source', 16).notNullable();
        table.string('status', 16).notNullable();
        table.bigInteger('step');
        table.double('epoch');
        table.bigInteger('max_steps');
        table.text('config').notNullable();
        table.text('environment').notNullable();
        table.text('tags').notNullable();
        table.text('notes').notNullable();
        table.bigInteger('created_at').notNullable();
        table.bigInteger('started_at').notNullable();
        table.bigInteger('finished_at');
        table.index(['created_at', 'id']);
        for (const filter of ['project_id', 'experiment_id', 'job_id', 'status'])
          table.index([filter, 'created_at']);
      });
      await db.schema.createTable('assigned_runs', (table) => {
        table.string('run_id', 40).primary();
        table.string('job_id', 40).notNullable().references('jobs.id');
        table.integer('attempt').notNullable();
        table.string('node_id', 40).notNullable();
        table.unique(['job_id', 'attempt', 'node_id']);
      });
    },
  },
  {
    // What every list reads, and every batch of points writes, stays small: the whole of a large config or environment lies apart.
    name: '0002-search',
    async up(db) {
      await db.schema.alterTable('runs', (table) => table.text('search_name').notNullable().defaultTo(''));
      await db.schema.createTable('run_documents', (table) => {
        table.string('run_id', 40).primary().references('runs.id').onDelete('CASCADE');
        table.text('config');
        table.text('environment');
      });
      await db.schema.createTable('run_tags', (table) => {
        table.string('run_id', 40).notNullable().references('runs.id').onDelete('CASCADE');
        table.string('tag', 100).notNullable();
        table.primary(['run_id', 'tag']);
        table.index(['tag', 'run_id']);
      });
      await indexPresentRuns(db);
    },
  },
  {
    name: '0003-signs-of-life',
    async up(db) {
      await db.schema.alterTable('runs', (table) => {
        table.bigInteger('seen_at');
        table.bigInteger('stale_since');
      });
      await db('runs')
        .where({ status: 'RUNNING' })
        .whereNull('job_id')
        .update({ seen_at: db.ref('started_at') });
    },
  },
  {
    // Without it, to look for a name that few runs have reads all of them: 0.1 s of 100 000.
    name: '0004-by-name',
    async up(db) {
      await db.schema.alterTable('runs', (table) => table.index(['name', 'created_at']));
    },
  },
  {
    name: '0005-deleted',
    async up(db) {
      await db.schema.alterTable('runs', (table) => table.bigInteger('deleted_at'));
    },
  },
  {
    name: '0006-import-key',
    async up(db) {
      await db.schema.alterTable('runs', (table) => table.string('import_key', 100).unique());
    },
  },
];

async function indexPresentRuns(db: Db): Promise<void> {
  const rows = (await db('runs').select('id', 'name', 'tags')) as {
    id: string;
    name: string;
    tags: string;
  }[];
  for (const { id, name, tags } of rows) {
    await db('runs')
      .where({ id })
      .update({ search_name: toSearchName(name) });
    for (const tag of fromJson<string[]>(tags)) await db('run_tags').insert({ run_id: id, tag });
  }
}
