import { html, nothing } from 'lit';
import { formatCount, formatValue } from '../format.js';
import { nearestRow } from './align.js';
import { renderUnit } from './unit.js';
import { formatX, type XKind } from './axis.js';
import type { ChartMark } from './chart-lines.js';
import type { Plot } from './plot.js';

/** What stands under the cursor, in words. */
export interface Reading {
  readonly x: string;
  readonly rows: readonly ReadingRow[];
  /** Lines that are not named. */
  readonly more: number;
  readonly notes: readonly ChartMark[];
}

interface ReadingRow {
  readonly label: string;
  readonly color: string;
  readonly value: string;
  /** Empty: none. */
  readonly unit: string;
  /** Where the nearest point of the line is, if not here; steps alone. */
  readonly at: string | null;
}

/** A line of the chart, in its order; null for one that is switched off. */
export type ReadLine = { readonly label: string; readonly color: string; readonly unit: string } | null;

/** More lines than this have no place beside the pointer: those nearest to it are named. */
const MOST_ROWS = 10;

export function readAt(
  plot: Plot,
  row: number,
  { kind, lines, notes }: { kind: XKind; lines: readonly ReadLine[]; notes: readonly ChartMark[] },
): Reading {
  const { xs, measured } = plot.aligned;
  const x = xs[row]!;
  const found = lines.flatMap((line, index) => {
    const at = line && nearestRow(measured[index] ?? [], row);
    return line && at !== null ? [{ ...line, index, at }] : [];
  });
  if (found.length > MOST_ROWS)
    found.sort((a, b) => plot.distance(a.index, a.at) - plot.distance(b.index, b.at));
  return {
    x: formatX(kind, x),
    rows: found.slice(0, MOST_ROWS).map(({ label, color, unit, index, at }) => ({
      label,
      color,
      value: formatValue(measured[index]![at]!),
      unit,
      at: kind === 'step' && xs[at] !== x ? formatCount(xs[at]!) : null,
    })),
    more: Math.max(0, found.length - MOST_ROWS),
    notes,
  };
}

export function renderReading({ x, rows, more, notes }: Reading, style: string) {
  return html`<div class="tooltip" .style=${style}>
    <table>
      <caption>
        ${x}
      </caption>
      ${rows.map(
        ({ label, color, value, unit, at }) =>
          html`<tr>
            <th scope="row"><span class="swatch" .style=${`--swatch: ${color}`}></span>${label}</th>
            <td>
              ${at === null ? nothing : html`<span class="at">at ${at} </span>`} ${value}${renderUnit(unit)}
            </td>
          </tr>`,
      )}
    </table>
    ${more > 0 ? html`<p class="at">${more} more lines</p>` : nothing}
    ${notes.map(({ tone, label }) => html`<p class="note ${tone}">${label}</p>`)}
  </div>`;
}

export function describeReading({ x, rows, notes }: Reading): string {
  const values = rows.map(({ label, value, unit }) => `${label} ${value}${unit && ` ${unit}`}`);
  return [x, ...values, ...notes.map(({ label }) => label)].join(', ');
}
