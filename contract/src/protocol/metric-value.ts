import type { NON_FINITE_VALUES } from './enums.js';

/** As JSON has it: three numbers have no word of their own there, and are written as strings. */
type Written = number | (typeof NON_FINITE_VALUES)[number];

export function toMetricValue(value: number): Written {
  return Number.isFinite(value) ? value : (String(value) as Written);
}

export function fromMetricValue(value: Written): number {
  return typeof value === 'number' ? value : Number(value);
}
