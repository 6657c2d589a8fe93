import { toSearchName, type Db, type Migration } from '@svc/kernel';

export const jobsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('jobs', (table) => {
        table.string('id', 64).primary();
        table.text('name').notNullable();
        table.string('type', 16).notNullable();
        table.text('command').notNullable();
        table.text('working_dir');
        table.string('runner', 64).notNullable();
        table.text('runner_options').notNullable();
        table.integer('gpu').notNullable();
        table.integer('priority').notNullable();
        table.text('project');
        table.text('experiment');
        table.string('project_id', 64).references('projects.id').index();
        table.string('experiment_id', 64).references('experiments.id').index();
        table.text('env').notNullable();
        table.text('node_selector').notNullable();
        table.integer('max_attempts').notNullable();
        table.integer('attempt').notNullable();
        table.string('status', 16).notNullable();
        table.text('pending_reason');
        table.integer('exit_code');
        table.string('failure_reason', 32);
        table.text('failure_message');
        table.string('run_id', 64);
        table.string('checkpoint_id', 64);
        table.string('evaluation_id', 64);
        table.string('node_id', 64);
        table.text('gpu_indices').notNullable();
        table.bigInteger('created_at').notNullable().unique();
        table.bigInteger('queued_at').notNullable();
        table.bigInteger('dispatched_at');
        table.bigInteger('started_at');
        table.bigInteger('finished_at');
        table.bigInteger('cancel_requested_at');
        table.bigInteger('not_before');
        table.bigInteger('retry_at').index();
        table.bigInteger('head_since');
        table.index(['status', 'priority', 'created_at']);
        table.index(['node_id', 'status']);
      });
      await db.schema.createTable('attempts', (table) => {
        table.string('job_id', 64).notNullable().references('jobs.id');
        table.integer('attempt').notNullable();
        table.string('run_id', 64);
        table.string('node_id', 64);
        table.text('gpu_indices').notNullable();
        table.string('status', 16).notNullable();
        table.integer('exit_code');
        table.string('failure_reason', 32);
        table.text('failure_message');
        table.bigInteger('dispatched_at');
        table.bigInteger('accepted_at');
        table.bigInteger('started_at');
        table.bigInteger('finished_at');
        table.primary(['job_id', 'attempt']);
      });
      await db.schema.createTable('idempotency_keys', (table) => {
        table.string('token_id', 64).notNullable();
        table.string('route', 64).notNullable();
        table.string('key', 255).notNullable();
        table.string('body_hash', 64).notNullable();
        table.string('job_id', 64).notNullable().references('jobs.id');
        table.bigInteger('created_at').notNullable().index();
        table.primary(['token_id', 'route', 'key']);
      });
    },
  },
  {
    name: '0002-list-order',
    async up(db) {
      await db.schema.alterTable('jobs', (table) => {
        for (const column of ['project_id', 'experiment_id']) table.dropIndex(column);
        for (const column of ['status', 'project_id', 'experiment_id', 'node_id'])
          table.index([column, 'created_at']);
      });
    },
  },
  {
    name: '0003-every-attempt',
    async up(db) {
      await addMissingAttempts(db);
      await closeGivenUpAttempts(db);
    },
  },
  {
    name: '0004-snapshot',
    async up(db) {
      await db.schema.alterTable('jobs', (table) => {
        table.string('snapshot', 64).index();
        table.index(['name', 'created_at']);
      });
    },
  },
  {
    // An attempt used to have the run that its process would get from its dispatch on, and was shown with it only once its agent had reported the
    // start. Now it has the run of its job, as soon as the job has one.
    name: '0005-run-of-attempt',
    async up(db) {
      await db.raw(`update attempts set run_id = null
        where run_id is not null and started_at is null and status <> 'SUCCEEDED'`);
      await db.raw(`update attempts set run_id =
          (select jobs.run_id from jobs where jobs.id = attempts.job_id and jobs.attempt = attempts.attempt)
        where run_id is null`);
    },
  },
  {
    name: '0006-preferred-node',
    async up(db) {
      await db.schema.alterTable('jobs', (table) => table.string('preferred_node_id', 64));
    },
  },
  {
    name: '0007-search',
    async up(db) {
      await db.schema.alterTable('jobs', (table) => table.text('search_name').notNullable().defaultTo(''));
      const jobs = (await db('jobs').select('id', 'name')) as { id: string; name: string }[];
      for (const { id, name } of jobs)
        await db('jobs')
          .where({ id })
          .update({ search_name: toSearchName(name) });
    },
  },
];

/** A job that had not left the queue yet had no row of its attempt. */
async function addMissingAttempts(db: Db): Promise<void> {
  const columns = `attempt, run_id, node_id, gpu_indices, status, exit_code, failure_reason, failure_message,
    dispatched_at, started_at, finished_at`;
  await db.raw(`insert into attempts (job_id, ${columns}) select id, ${columns} from jobs
    where not exists (select 1 from attempts where job_id = jobs.id and attempts.attempt = jobs.attempt)`);
}

/**
 * A LOST attempt that was retried had no end. It was given up when the job was queued again: that is known of the attempt before the
 * present one; of an earlier one it is known that it was before the next was dispatched or ended.
 */
async function closeGivenUpAttempts(db: Db): Promise<void> {
  await db.raw(`update attempts set finished_at = coalesce(
      (select queued_at from jobs where jobs.id = attempts.job_id and jobs.attempt = attempts.attempt + 1),
      (select coalesce(later.dispatched_at, later.finished_at) from attempts later
        where later.job_id = attempts.job_id and later.attempt = attempts.attempt + 1))
    where finished_at is null and attempt < (select jobs.attempt from jobs where jobs.id = attempts.job_id)`);
}
