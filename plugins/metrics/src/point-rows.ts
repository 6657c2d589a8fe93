import type { Digest } from './digest.js';
import type { Position } from './point.js';
import type { SeqRange } from './seq-ranges.js';

/**
 * Access to the tables of points within one transaction, with one implementation per database.
 *
 * `metric_runs`: a run that has points. `metric_seq_ranges`: the sequence numbers that were stored, as ranges with gaps between them, so
 * that idempotence is exact and cheap. `metric_series`: one metric of a run with its digest and its
 * newest points (`tail`). `metric_chunks`: the points before the tail, in the order of the series: chunks do not overlap, and
 * each is found by its first point. What `chunk-codec` and `digest` write is opaque to the database.
 */
export interface PointRows {
  /** Creates the run's row if it has none, and locks it until the transaction ends. The run exists. */
  openRun(runId: string, receivedAt: number): Promise<RunRow>;
  findRun(runId: string): Promise<RunRow | null>;
  saveRun(run: RunRow): Promise<void>;

  /** The ranges that overlap or touch any of `wanted`, ascending. */
  rangesTouching(runKey: number, wanted: readonly SeqRange[]): Promise<SeqRange[]>;
  /** `removed` are stored ranges. */
  replaceRanges(runKey: number, removed: readonly SeqRange[], added: readonly SeqRange[]): Promise<void>;

  findSeries(runKey: number, names: readonly string[]): Promise<SeriesRow[]>;
  /** The next series after that name; '' comes before all names. */
  seriesAfter(runKey: number, name: string, limit: number): Promise<SeriesRow[]>;
  /** Of one metric, by the ids of those of these runs that have it. */
  digestsOf(runIds: readonly string[], name: string): Promise<ReadonlyMap<string, Digest>>;
  /** Returns the ids, in the same order. */
  insertSeries(runKey: number, series: readonly NewSeries[]): Promise<number[]>;
  updateSeries(series: readonly SeriesRow[]): Promise<void>;

  /** The heads of the chunks before the tail, in order. */
  chunkHeads(seriesId: number): Promise<ChunkHead[]>;
  chunkData(seriesId: number, chunk: Position): Promise<Buffer>;
  /** The chunk that `position` belongs in: the last that begins at or before it, else the first; null without chunks. */
  chunkAround(seriesId: number, position: Position): Promise<StoredChunk | null>;
  /** Where the chunk after that one begins; null when it is the last. */
  chunkAfter(seriesId: number, chunk: Position): Promise<Position | null>;
  /** The chunk before the tail; null without chunks. */
  lastChunk(seriesId: number): Promise<Chunk | null>;
  /** Replaces the digest and the data of the chunk that begins at `chunk.position`. */
  updateChunk(seriesId: number, chunk: Chunk): Promise<void>;
  deleteChunk(seriesId: number, chunk: Position): Promise<void>;
  insertChunks(seriesId: number, chunks: readonly Chunk[]): Promise<void>;

  /** Separates one batch from the others of its transaction: what was written since `set` is kept or undone. */
  savepoint(action: SavepointAction): Promise<void>;
}

export type SavepointAction = 'set' | 'keep' | 'undo';

export interface RunRow {
  readonly key: number;
  readonly series_count: number;
  /** When the newest batch came in, by the server's clock, in ms. */
  readonly received_at: number;
}

export interface NewSeries {
  readonly name: string;
  readonly digest: Digest;
  readonly tail_count: number;
  readonly tail: Buffer;
}

export interface SeriesRow extends NewSeries {
  readonly id: number;
}

export interface ChunkHead {
  /** Its first point. */
  readonly position: Position;
  readonly digest: Digest;
}

export interface StoredChunk {
  readonly position: Position;
  readonly data: Buffer;
}

export interface Chunk extends ChunkHead, StoredChunk {}
