import type { Place } from './point.js';

/** The columns of `metric_series` as both databases give them. */
export interface SeriesColumns {
  readonly id: number;
  readonly name: string;
  readonly digest: Buffer;
  readonly tail_count: number;
  readonly tail: Buffer;
}

/** The columns of `metric_chunks` as both databases give them. */
export interface ChunkColumns {
  readonly step_first: number;
  readonly seq_first: number;
  readonly digest: Buffer;
  readonly data: Buffer;
}

export function placeOf({ step_first, seq_first }: Pick<ChunkColumns, 'step_first' | 'seq_first'>): Place {
  return { step: step_first, seq: seq_first };
}
