import type { Database, Statement } from 'better-sqlite3';
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

const SQL = {
  openRun: `insert into metric_runs (run_id, series_count, received_at) values (?, 0, ?) on conflict (run_id) do nothing`,
  findRun: `select key, series_count, received_at from metric_runs where run_id = ?`,
  saveRun: `update metric_runs set series_count = ?, received_at = ? where key = ?`,
  rangesTouching: `select from_seq, to_seq from metric_seq_ranges where run_key = :run and from_seq <= :to + 1 and from_seq >=
    coalesce((select max(from_seq) from metric_seq_ranges where run_key = :run and from_seq <= :from), :from)`,
  deleteRange: `delete from metric_seq_ranges where run_key = ? and from_seq = ?`,
  insertRange: `insert into metric_seq_ranges (run_key, from_seq, to_seq) values (?, ?, ?)`,
  findSeries: `select id, name, digest, tail_count, tail from metric_series where run_key = ? and name = ?`,
  seriesAfter: `select id, name, digest, tail_count, tail from metric_series where run_key = ? and name > ? order by name limit ?`,
  digestsOf: `select run_id, digest from json_each(?) wanted
    cross join metric_runs on metric_runs.run_id = wanted.value
    join metric_series on metric_series.run_key = metric_runs.key and metric_series.name = ?`,
  insertSeries: `insert into metric_series (run_key, name, digest, tail_count, tail) values (?, ?, ?, ?, ?)`,
  updateSeries: `update metric_series set digest = ?, tail_count = ?, tail = ? where id = ?`,
  chunkHeads: `select step_first, seq_first, digest from metric_chunks indexed by metric_chunk_heads
    where series_id = ? order by step_first, seq_first`,
  chunkData: `select data from metric_chunks where series_id = ? and step_first = ? and seq_first = ?`,
  chunkBefore: `select step_first, seq_first, data from metric_chunks
    where series_id = ? and (step_first, seq_first) <= (?, ?) order by step_first desc, seq_first desc limit 1`,
  firstChunk: `select step_first, seq_first, data from metric_chunks where series_id = ? order by step_first, seq_first limit 1`,
  chunkAfter: `select step_first, seq_first from metric_chunks
    where series_id = ? and (step_first, seq_first) > (?, ?) order by step_first, seq_first limit 1`,
  lastChunk: `select step_first, seq_first, digest, data from metric_chunks
    where series_id = ? order by step_first desc, seq_first desc limit 1`,
  updateChunk: `update metric_chunks set digest = ?, data = ? where series_id = ? and step_first = ? and seq_first = ?`,
  deleteChunk: `delete from metric_chunks where series_id = ? and step_first = ? and seq_first = ?`,
  insertChunk: `insert into metric_chunks (series_id, step_first, seq_first, digest, data) values (?, ?, ?, ?, ?)`,
  ...SAVEPOINT_SQL,
} as const;

type Statements = Readonly<Record<keyof typeof SQL, Statement>>;
const prepared = new WeakMap<Database, Statements>();

/** Compiled once for each connection. */
function statementsOf(connection: Database): Statements {
  const known = prepared.get(connection);
  if (known) return known;
  const compiled = Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => [name, connection.prepare(sql)]),
  );
  prepared.set(connection, compiled as Statements);
  return compiled as Statements;
}

/** Uses the synchronous driver without knex: a batch needs one iteration of the event loop. */
export class SqliteRows implements PointRows {
  readonly #sql: Statements;

  constructor(connection: Database) {
    this.#sql = statementsOf(connection);
  }

  async openRun(runId: string, receivedAt: number): Promise<RunRow> {
    this.#sql.openRun.run(runId, receivedAt);
    return (await this.findRun(runId)) as RunRow;
  }

  async findRun(runId: string): Promise<RunRow | null> {
    return (this.#sql.findRun.get(runId) as RunRow | undefined) ?? null;
  }

  async saveRun({ key, series_count, received_at }: RunRow): Promise<void> {
    this.#sql.saveRun.run(series_count, received_at, key);
  }

  async rangesTouching(runKey: number, wanted: readonly SeqRange[]): Promise<SeqRange[]> {
    const found = new Map<number, SeqRange>();
    for (const { from, to } of wanted) {
      const rows = this.#sql.rangesTouching.all({ run: runKey, from, to }) as {
        from_seq: number;
        to_seq: number;
      }[];
      for (const row of rows)
        if (row.to_seq >= from - 1) found.set(row.from_seq, { from: row.from_seq, to: row.to_seq });
    }
    return [...found.values()];
  }

  async replaceRanges(
    runKey: number,
    removed: readonly SeqRange[],
    added: readonly SeqRange[],
  ): Promise<void> {
    for (const { from } of removed) this.#sql.deleteRange.run(runKey, from);
    for (const { from, to } of added) this.#sql.insertRange.run(runKey, from, to);
  }

  async findSeries(runKey: number, names: readonly string[]): Promise<SeriesRow[]> {
    const rows = names
      .map((name) => this.#sql.findSeries.get(runKey, name))
      .filter((row) => row !== undefined);
    return (rows as SeriesColumns[]).map(toSeriesRow);
  }

  async seriesAfter(runKey: number, name: string, limit: number): Promise<SeriesRow[]> {
    return (this.#sql.seriesAfter.all(runKey, name, limit) as SeriesColumns[]).map(toSeriesRow);
  }

  async digestsOf(runIds: readonly string[], name: string): Promise<ReadonlyMap<string, Digest>> {
    return toDigests(this.#sql.digestsOf.all(JSON.stringify(runIds), name) as DigestColumns[]);
  }

  async insertSeries(runKey: number, series: readonly NewSeries[]): Promise<number[]> {
    return series.map(({ name, digest, tail_count, tail }) =>
      Number(
        this.#sql.insertSeries.run(runKey, name, encodeDigest(digest), tail_count, tail).lastInsertRowid,
      ),
    );
  }

  async updateSeries(series: readonly SeriesRow[]): Promise<void> {
    for (const { id, digest, tail_count, tail } of series) {
      this.#sql.updateSeries.run(encodeDigest(digest), tail_count, tail, id);
    }
  }

  async chunkHeads(seriesId: number): Promise<ChunkHead[]> {
    const rows = this.#sql.chunkHeads.all(seriesId) as ChunkColumns[];
    return rows.map((row) => ({ position: positionOf(row), digest: decodeDigest(row.digest) }));
  }

  async chunkData(seriesId: number, { step, seq }: Position): Promise<Buffer> {
    return (this.#sql.chunkData.get(seriesId, step, seq) as ChunkColumns).data;
  }

  async chunkAround(seriesId: number, { step, seq }: Position): Promise<StoredChunk | null> {
    const row = this.#sql.chunkBefore.get(seriesId, step, seq) ?? this.#sql.firstChunk.get(seriesId);
    return row ? { position: positionOf(row as ChunkColumns), data: (row as ChunkColumns).data } : null;
  }

  async chunkAfter(seriesId: number, { step, seq }: Position): Promise<Position | null> {
    const row = this.#sql.chunkAfter.get(seriesId, step, seq) as ChunkColumns | undefined;
    return row ? positionOf(row) : null;
  }

  async lastChunk(seriesId: number): Promise<Chunk | null> {
    const row = this.#sql.lastChunk.get(seriesId) as ChunkColumns | undefined;
    return row ? { position: positionOf(row), digest: decodeDigest(row.digest), data: row.data } : null;
  }

  async updateChunk(seriesId: number, { position, digest, data }: Chunk): Promise<void> {
    this.#sql.updateChunk.run(encodeDigest(digest), data, seriesId, position.step, position.seq);
  }

  async deleteChunk(seriesId: number, { step, seq }: Position): Promise<void> {
    this.#sql.deleteChunk.run(seriesId, step, seq);
  }

  async insertChunks(seriesId: number, chunks: readonly Chunk[]): Promise<void> {
    for (const { position, digest, data } of chunks) {
      this.#sql.insertChunk.run(seriesId, position.step, position.seq, encodeDigest(digest), data);
    }
  }

  async savepoint(action: SavepointAction): Promise<void> {
    this.#sql[action].run();
  }
}
