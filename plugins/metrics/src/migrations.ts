import type { Migration } from '@svc/kernel';
import { dialectOf } from '@svc/kernel';

/** See PointRows for what each table holds. WITHOUT ROWID: a row lies in the order of its key, and there is no second index. */
export const metricsMigrations: readonly Migration[] = [
  {
    name: '0001-init',
    async up(db) {
      const isSqlite = dialectOf(db) === 'sqlite';
      const id = isSqlite ? 'integer primary key' : 'bigint generated always as identity primary key';
      const blob = isSqlite ? 'blob' : 'bytea';
      const clustered = isSqlite ? 'without rowid' : '';
      await db.raw(`create table metric_runs (
        key ${id},
        run_id varchar(40) not null unique references runs (id) on delete cascade,
        series_count integer not null,
        received_at bigint not null
      )`);
      await db.raw(`create table metric_seq_ranges (
        run_key bigint not null references metric_runs (key) on delete cascade,
        from_seq bigint not null,
        to_seq bigint not null,
        primary key (run_key, from_seq)
      ) ${clustered}`);
      await db.raw(`create table metric_series (
        id ${id},
        run_key bigint not null references metric_runs (key) on delete cascade,
        name varchar(250) not null,
        digest ${blob} not null,
        tail_count integer not null,
        tail ${blob} not null,
        unique (run_key, name)
      )`);
      await db.raw(`create table metric_chunks (
        series_id bigint not null references metric_series (id) on delete cascade,
        step_first bigint not null,
        seq_first bigint not null,
        digest ${blob} not null,
        data ${blob} not null,
        primary key (series_id, step_first, seq_first)
      ) ${clustered}`);
    },
  },
  {
    name: '0002-chunk-heads',
    async up(db) {
      // A thinned answer asks for the digests of all chunks of a series, which lie scattered among the points: here they lie together.
      if (dialectOf(db) !== 'sqlite') return;
      await db.raw(
        'create index metric_chunk_heads on metric_chunks (series_id, step_first, seq_first, digest)',
      );
    },
  },
];
