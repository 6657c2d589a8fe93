import { html, nothing } from 'lit';
import { renderUnit } from './unit.js';
import { formatCount, formatValue } from '../format.js';
import { countUndrawable, describeUndrawable } from './align.js';
import type { ChartLine, ChartMark } from './chart-lines.js';

/** How the legend shows a line. */
export interface LegendEntry {
  readonly label: string;
  readonly color: string;
  /** Under the cursor, else the newest; undefined without a point. */
  readonly value: number | undefined;
  readonly isLog: boolean;
  readonly isMuted: boolean;
  readonly hasBest: boolean;
  onToggle(): void;
}

/** Shows the line, or switches it off. */
export function renderLegendButton({ name, series, best, unit }: ChartLine, entry: LegendEntry) {
  const { label, color, value, isLog, isMuted, hasBest, onToggle } = entry;
  const note = describeUndrawable(countUndrawable(series.values, isLog));
  return html`<button
    title=${best ? `${name}: best ${formatValue(best.value)} at step ${formatCount(best.step)}` : name}
    aria-pressed=${isMuted ? 'false' : 'true'}
    @click=${onToggle}
  >
    <span class="swatch" .style=${`--swatch: ${color}`}></span>
    <span class="label">${label}</span>
    ${value === undefined ? nothing : html`<span class="value">${formatValue(value)}</span>${renderUnit(unit)}`}
    ${best && hasBest ? html`<span class="best">best ${formatValue(best.value)}</span>` : nothing}
    ${note === '' ? nothing : html`<span class="odd">${note}</span>`}
  </button>`;
}

/** So many marks have a button of their own. */
const SHOWN_MARKS = 3;

export function renderMarkButtons(marks: readonly ChartMark[], onMark: (mark: ChartMark) => void) {
  const more = marks.length - SHOWN_MARKS;
  return html`${marks.slice(0, SHOWN_MARKS).map(
    (mark) =>
      html`<button class="mark ${mark.tone}" title=${mark.label} @click=${() => onMark(mark)}>
        <span aria-hidden="true">◆</span> step ${formatCount(mark.step)}
        <span class="visually-hidden">${mark.label}</span>
      </button>`,
  )}${more > 0 ? html`<span class="more">+${formatCount(more)}</span>` : nothing}`;
}
