import type { Migration } from '@svc/kernel';

export const nodesMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('nodes', (table) => {
        table.string('id', 64).primary();
        table.text('name').notNullable();
        table.text('hostname').notNullable();
        table.text('version').notNullable();
        table.text('boot_id').notNullable();
        table.text('labels').notNullable();
        table.text('runners').notNullable();
        table.text('system').notNullable();
        table.integer('max_cpu_jobs').notNullable();
        table.boolean('online').notNullable();
        table.boolean('draining').notNullable().defaultTo(false);
        table.string('secret_hash', 64).notNullable();
        table.boolean('secret_confirmed').notNullable().defaultTo(false);
        table.bigInteger('last_heartbeat_at').notNullable();
        table.bigInteger('connected_at');
        table.bigInteger('offline_at');
        table.bigInteger('created_at').notNullable().index();
      });
      await db.schema.createTable('slots', (table) => {
        table.string('node_id', 64).notNullable().references('nodes.id');
        table.integer('idx').notNullable();
        table.text('uuid').notNullable();
        table.text('model').notNullable();
        table.double('memory_total_mb');
        table.boolean('virtual').notNullable();
        table.boolean('present').notNullable();
        table.string('job_id', 64).index();
        table.integer('attempt');
        table.primary(['node_id', 'idx']);
      });
      await db.schema.createTable('cpu_claims', (table) => {
        table.string('node_id', 64).notNullable().references('nodes.id');
        table.string('job_id', 64).notNullable();
        table.integer('attempt').notNullable();
        table.primary(['node_id', 'job_id', 'attempt']);
      });
    },
  },
  {
    name: '0002-external-claims',
    async up(db) {
      await db.schema.alterTable('cpu_claims', (table) => {
        table.boolean('external').notNullable().defaultTo(false);
      });
    },
  },
  {
    name: '0003-slot-health',
    async up(db) {
      await db.schema.alterTable('slots', (table) => {
        table.string('health', 16).notNullable().defaultTo('ok');
        table.text('health_reason');
        table.bigInteger('health_since');
      });
    },
  },
];
