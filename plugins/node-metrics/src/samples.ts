/** Samples in columns, by time: `columns.get(name)[i]` was measured at `ts[i]`; NaN where it was not. */
export interface Samples {
  readonly ts: readonly number[];
  readonly columns: ReadonlyMap<string, ArrayLike<number>>;
}

/** One metric, without the gaps. */
export interface TimedValues {
  readonly ts: number[];
  readonly values: number[];
}
