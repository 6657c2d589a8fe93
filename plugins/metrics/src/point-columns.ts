import { decodeDigest, type Digest } from './digest.js';
import type { SavepointAction, SeriesRow } from './point-rows.js';
import type { Position } from './point.js';

export const SAVEPOINT_SQL: Readonly<Record<SavepointAction, string>> = {
  set: 'savepoint batch',
  keep: 'release savepoint batch',
  undo: 'rollback to savepoint batch',
};

/** The columns of `metric_series` as both databases give them. */
export interface SeriesColumns {
  readonly id: number;
  readonly name: string;
  readonly digest: Buffer;
  readonly tail_count: number;
  readonly tail: Buffer;
}

export function toSeriesRow(columns: SeriesColumns): SeriesRow {
  return { ...columns, digest: decodeDigest(columns.digest) };
}

export interface DigestColumns {
  readonly run_id: string;
  readonly digest: Buffer;
}

export function toDigests(rows: readonly DigestColumns[]): ReadonlyMap<string, Digest> {
  return new Map(rows.map(({ run_id, digest }) => [run_id, decodeDigest(digest)]));
}

/** The columns of `metric_chunks` as both databases give them. */
export interface ChunkColumns {
  readonly step_first: number;
  readonly seq_first: number;
  readonly digest: Buffer;
  readonly data: Buffer;
}

export function positionOf({
  step_first,
  seq_first,
}: Pick<ChunkColumns, 'step_first' | 'seq_first'>): Position {
  return { step: step_first, seq: seq_first };
}
