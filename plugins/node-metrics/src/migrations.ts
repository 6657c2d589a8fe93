import { dialectOf, type Migration } from '@svc/kernel';

export const nodeMetricsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      const blob = dialectOf(db) === 'sqlite' ? 'blob' : 'bytea';
      await db.raw(`create table node_metric_chunks (
        node_id varchar(64) not null references nodes (id) on delete cascade,
        resolution varchar(8) not null,
        from_ts bigint not null,
        to_ts bigint not null,
        data ${blob} not null,
        primary key (node_id, resolution, from_ts)
      )`);
      await db.raw('create index node_metric_chunks_age on node_metric_chunks (resolution, to_ts)');
    },
  },
];
