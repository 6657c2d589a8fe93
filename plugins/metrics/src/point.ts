import type { MetricValue } from '@svc/contract';

/** A point as the store keeps it, within its series. `ts` in ms since the epoch. */
export interface Point {
  readonly step: number;
  readonly seq: number;
  readonly ts: number;
  readonly value: number;
  readonly epoch: number | null;
}

/** The order of a series: by step, and by seq where several points share one. No two points of a run are equal. */
export function comparePoints(a: Place, b: Place): number {
  return a.step - b.step || a.seq - b.seq;
}

export interface Place {
  readonly step: number;
  readonly seq: number;
}

/** JSON has no word for three numbers; the contract writes them as strings. */
export function toMetricValue(value: number): MetricValue {
  return Number.isFinite(value) ? value : (String(value) as 'NaN' | 'Infinity' | '-Infinity');
}

export function fromMetricValue(value: MetricValue): number {
  return typeof value === 'number' ? value : Number(value);
}
