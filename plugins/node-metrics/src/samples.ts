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

/** Without the samples of other times, and without metrics of which nothing is left. */
export function pickSamples({ ts, columns }: Samples, isWanted: (ts: number) => boolean): Samples {
  const wanted = ts.map(isWanted);
  const pick = (values: ArrayLike<number>) => Array.from(values).filter((_, index) => wanted[index]);
  const picked = [...columns].map(([name, values]) => [name, pick(values)] as const);
  return {
    ts: ts.filter((_, index) => wanted[index]),
    columns: new Map(picked.filter(([, values]) => values.some((value) => !Number.isNaN(value)))),
  };
}
