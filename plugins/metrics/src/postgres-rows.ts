import type { Db } from '@svc/kernel';
import { decodeDigest, encodeDigest, type Digest } from './digest.js';
import {
  positionOf,
  SAVEPOINT_SQL,
  toDigests,
  toSeriesRow,
  type ChunkColumns,
  type DigestColumns,
  type SeriesColumns,
} from './point-columns.js';
import type {
  Chunk,
  ChunkHead,
  NewSeries,
  PointRows,
  RunRow,
  SavepointAction,
  SeriesRow,
  StoredChunk,
} from './point-rows.js';
import type { Position } from './point.js';
import type { SeqRange } from './seq-ranges.js';

/** Rows of one statement: PostgreSQL takes at most 65 535 parameters. */
const ROWS_PER_STATEMENT = 5000;

/** One statement for each step of a batch, whatever the number of its series. */
export class PostgresRows implements PointRows {
  constructor(private readonly trx: Db) {}

  async openRun(runId: string, receivedAt: number): Promise<RunRow> {
    const sql = `insert into metric_runs (run_id, series_count, received_at) values (?, 0, ?)
      on conflict (run_id) do update set run_id = excluded.run_id returning key, series_count, received_at`;
    const [row] = await this.#all<RunRow>(sql, [runId, receivedAt]);
    return row as RunRow;
  }

  async findRun(runId: string): Promise<RunRow | null> {
    const [row] = await this.#all<RunRow>(
      'select key, series_count, received_at from metric_runs where run_id = ?',
      [runId],
    );
    return row ?? null;
  }

  async saveRun({ key, series_count, received_at }: RunRow): Promise<void> {
    await this.trx('metric_runs').where({ key }).update({ series_count, received_at });
  }

  async rangesTouching(runKey: number, wanted: readonly SeqRange[]): Promise<SeqRange[]> {
    const sql = `select distinct r.from_seq, r.to_seq from unnest(?::bigint[], ?::bigint[]) as wanted (a, b)
      join metric_seq_ranges r on r.run_key = ? and r.from_seq <= wanted.b + 1 and r.to_seq >= wanted.a - 1
        and r.from_seq >= coalesce((select max(from_seq) from metric_seq_ranges where run_key = ? and from_seq <= wanted.a), wanted.a)
      order by r.from_seq`;
    const bounds = [wanted.map(({ from }) => from), wanted.map(({ to }) => to)];
    const rows = await this.#all<{ from_seq: number; to_seq: number }>(sql, [...bounds, runKey, runKey]);
    return rows.map(({ from_seq, to_seq }) => ({ from: from_seq, to: to_seq }));
  }

  async replaceRanges(
    runKey: number,
    removed: readonly SeqRange[],
    added: readonly SeqRange[],
  ): Promise<void> {
    const gone = removed.map(({ from }) => from);
    if (gone.length > 0) {
      await this.#all('delete from metric_seq_ranges where run_key = ? and from_seq = any(?::bigint[])', [
        runKey,
        gone,
      ]);
    }
    const rows = added.map(({ from, to }) => ({ run_key: runKey, from_seq: from, to_seq: to }));
    await this.trx.batchInsert('metric_seq_ranges', rows, ROWS_PER_STATEMENT);
  }

  async findSeries(runKey: number, names: readonly string[]): Promise<SeriesRow[]> {
    const sql = `select id, name, digest, tail_count, tail from metric_series
      where run_key = ? and name = any(?::text[]) order by name`;
    return (await this.#all<SeriesColumns>(sql, [runKey, names])).map(toSeriesRow);
  }

  async seriesAfter(runKey: number, name: string, limit: number): Promise<SeriesRow[]> {
    const sql = `select id, name, digest, tail_count, tail from metric_series
      where run_key = ? and name > ? order by name limit ?`;
    return (await this.#all<SeriesColumns>(sql, [runKey, name, limit])).map(toSeriesRow);
  }

  async digestsOf(runIds: readonly string[], name: string): Promise<ReadonlyMap<string, Digest>> {
    const sql = `select run_id, digest from metric_runs
      join metric_series on metric_series.run_key = metric_runs.key and metric_series.name = ?
      where run_id = any(?::text[])`;
    return toDigests(await this.#all<DigestColumns>(sql, [name, runIds]));
  }

  async insertSeries(runKey: number, series: readonly NewSeries[]): Promise<number[]> {
    if (series.length === 0) return [];
    const sql = `insert into metric_series (run_key, name, digest, tail_count, tail)
      select ?, * from unnest(?::text[], ?::bytea[], ?::integer[], ?::bytea[]) returning id, name`;
    const inserted = await this.#all<{ id: number; name: string }>(sql, [
      runKey,
      series.map(({ name }) => name),
      series.map(({ digest }) => encodeDigest(digest)),
      series.map(({ tail_count }) => tail_count),
      series.map(({ tail }) => tail),
    ]);
    const ids = new Map(inserted.map(({ id, name }) => [name, id]));
    return series.map(({ name }) => ids.get(name) as number);
  }

  async updateSeries(series: readonly SeriesRow[]): Promise<void> {
    const sql = `update metric_series set digest = fresh.digest, tail_count = fresh.tail_count, tail = fresh.tail
      from unnest(?::bigint[], ?::bytea[], ?::integer[], ?::bytea[]) as fresh (id, digest, tail_count, tail)
      where metric_series.id = fresh.id`;
    await this.#all(sql, [
      series.map(({ id }) => id),
      series.map(({ digest }) => encodeDigest(digest)),
      series.map(({ tail_count }) => tail_count),
      series.map(({ tail }) => tail),
    ]);
  }

  async chunkHeads(seriesId: number): Promise<ChunkHead[]> {
    const rows = await this.#chunks(seriesId)
      .select('step_first', 'seq_first', 'digest')
      .orderBy(['step_first', 'seq_first']);
    return rows.map((row) => ({ position: positionOf(row), digest: decodeDigest(row.digest) }));
  }

  async chunkData(seriesId: number, { step, seq }: Position): Promise<Buffer> {
    const [row] = await this.#chunks(seriesId).where({ step_first: step, seq_first: seq }).select('data');
    return (row as ChunkColumns).data;
  }

  async chunkAround(seriesId: number, { step, seq }: Position): Promise<StoredChunk | null> {
    const [before] = await this.#chunks(seriesId)
      .whereRaw('(step_first, seq_first) <= (?, ?)', [step, seq])
      .orderBy([
        { column: 'step_first', order: 'desc' },
        { column: 'seq_first', order: 'desc' },
      ])
      .limit(1);
    const row = before ?? (await this.#chunks(seriesId).orderBy(['step_first', 'seq_first']).limit(1))[0];
    return row ? { position: positionOf(row), data: row.data } : null;
  }

  async chunkAfter(seriesId: number, { step, seq }: Position): Promise<Position | null> {
    const [row] = await this.#chunks(seriesId)
      .whereRaw('(step_first, seq_first) > (?, ?)', [step, seq])
      .orderBy(['step_first', 'seq_first'])
      .limit(1);
    return row ? positionOf(row) : null;
  }

  async lastChunk(seriesId: number): Promise<Chunk | null> {
    const [row] = await this.#chunks(seriesId)
      .orderBy([
        { column: 'step_first', order: 'desc' },
        { column: 'seq_first', order: 'desc' },
      ])
      .limit(1);
    return row ? { position: positionOf(row), digest: decodeDigest(row.digest), data: row.data } : null;
  }

  async updateChunk(seriesId: number, { position, digest, data }: Chunk): Promise<void> {
    await this.#chunks(seriesId)
      .where({ step_first: position.step, seq_first: position.seq })
      .update({ digest: encodeDigest(digest), data });
  }

  async deleteChunk(seriesId: number, { step, seq }: Position): Promise<void> {
    await this.#chunks(seriesId).where({ step_first: step, seq_first: seq }).delete();
  }

  async insertChunks(seriesId: number, chunks: readonly Chunk[]): Promise<void> {
    const rows = chunks.map(({ position, digest, data }) => ({
      series_id: seriesId,
      step_first: position.step,
      seq_first: position.seq,
      digest: encodeDigest(digest),
      data,
    }));
    await this.trx.batchInsert('metric_chunks', rows, ROWS_PER_STATEMENT);
  }

  async savepoint(action: SavepointAction): Promise<void> {
    await this.trx.raw(SAVEPOINT_SQL[action]);
  }

  #chunks(seriesId: number) {
    return this.trx<ChunkColumns & { series_id: number }>('metric_chunks').where('series_id', seriesId);
  }

  async #all<T>(sql: string, bindings: readonly unknown[]): Promise<T[]> {
    const { rows } = (await this.trx.raw(sql, bindings as never)) as { rows: T[] };
    return rows;
  }
}
