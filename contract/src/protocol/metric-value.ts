import type { MetricValue } from '../records/metric.js';

/** JSON has no word for three numbers; the contract writes them as strings. */
export function toMetricValue(value: number): MetricValue {
  return Number.isFinite(value) ? value : (String(value) as 'NaN' | 'Infinity' | '-Infinity');
}

export function fromMetricValue(value: MetricValue): number {
  return typeof value === 'number' ? value : Number(value);
}
