import type { Range, XKind } from '../chart/axis.js';
import type { Address } from '../controllers/address.js';

/** How the charts of a page are shown, as its address has it. */
export interface ChartView {
  readonly smoothing: number;
  readonly isLog: boolean;
  readonly x: (typeof X_KINDS)[number];
  /** In the unit of the x axis; null: all. */
  readonly range: Range | null;
  readonly search: string;
  /** The title of the chart that fills the window. */
  readonly full: string | null;
  /** A point that the address leads to. */
  readonly point: { readonly metric: string; readonly step: number } | null;
}

export const MAX_SMOOTHING = 0.99;
export const X_KINDS = ['step', 'epoch', 'time'] as const satisfies readonly XKind[];

/** By the names in the address; null takes one out. */
export type ViewChanges = Partial<
  Record<'smooth' | 'scale' | 'x' | 'zoom' | 'search' | 'chart', string | null>
>;

/** Text that makes no sense is as if it were not there. */
export function readView(address: Pick<Address, 'get'>): ChartView {
  const smoothing = Number(address.get('smooth') ?? 0);
  const step = Number(address.get('step') ?? NaN);
  const metric = address.get('metric');
  return {
    smoothing: smoothing > 0 ? Math.min(MAX_SMOOTHING, smoothing) : 0,
    isLog: address.get('scale') === 'log',
    x: X_KINDS.find((kind) => kind === address.get('x')) ?? 'step',
    range: readRange(address.get('zoom')),
    search: address.get('search') ?? '',
    full: address.get('chart'),
    point: metric !== null && Number.isFinite(step) ? { metric, step } : null,
  };
}

export function writeRange(range: Range | null): string | null {
  return range && range.map((bound) => String(Number(bound.toPrecision(15)))).join('..');
}

export function readRange(text: string | null): Range | null {
  const [from = NaN, to = NaN, ...rest] = (text ?? '')
    .split('..')
    .map((part) => (part === '' ? NaN : Number(part)));
  return rest.length === 0 && Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null;
}
