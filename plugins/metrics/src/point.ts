/** A point as the store keeps it, within its series. `ts` in ms since the epoch. */
export interface Point {
  readonly step: number;
  readonly seq: number;
  readonly ts: number;
  readonly value: number;
  readonly epoch: number | null;
}

/** The order of a series: by step, and by seq where several points share one. No two points of a run are equal. */
export function comparePoints(a: Position, b: Position): number {
  return a.step - b.step || a.seq - b.seq;
}

export interface Position {
  readonly step: number;
  readonly seq: number;
}
