import type { Migration } from '@svc/kernel';
import { GLOBAL } from './levels.js';

/** A level has one column for the name of its primary metric, so that there cannot be two. */
export const metricDefinitionsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      await db.schema.createTable('metric_levels', (table) => {
        table.string('id', 40).primary();
        table.string('project_id', 40).unique().references('projects.id').onDelete('CASCADE');
        table.string('experiment_id', 40).unique().references('experiments.id').onDelete('CASCADE');
        table.string('primary_name', 250);
      });
      await db.schema.createTable('metric_definitions', (table) => {
        table.string('level_id', 40).notNullable().references('metric_levels.id').onDelete('CASCADE');
        table.string('name', 250).notNullable();
        table.string('direction', 8).notNullable();
        table.boolean('auto').notNullable();
        table.text('unit');
        table.text('description').notNullable();
        table.bigInteger('created_at').notNullable();
        table.primary(['level_id', 'name']);
      });
      await db('metric_levels').insert({ id: GLOBAL.id });
    },
  },
  {
    name: '0002-runs',
    async up(db) {
      await db.raw(
        'alter table metric_levels add column run_id varchar(40) references runs (id) on delete cascade',
      );
      await db.schema.alterTable('metric_levels', (table) => table.unique(['run_id']));
    },
  },
  {
    // What people had set before may be the unit alone: its direction counts as set, because they have seen it.
    name: '0003-guessed',
    async up(db) {
      await db.schema.alterTable('metric_definitions', (table) =>
        table.boolean('guessed').notNullable().defaultTo(true),
      );
      await db('metric_definitions').where({ auto: false }).update({ guessed: false });
    },
  },
];
