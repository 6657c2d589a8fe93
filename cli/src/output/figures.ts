import type { Slot } from '@svc/contract';

/** `97 %`, or `-` where nothing was measured. */
export function toFigure(value: number | null | undefined, unit: string): string {
  return value === null || value === undefined ? '-' : `${Math.round(value)} ${unit}`;
}

/** Of those that were measured, in percent; null when none was. */
export function meanUtilization(slots: readonly Slot[]): number | null {
  const values = slots.flatMap(({ utilization }) => utilization ?? []);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
