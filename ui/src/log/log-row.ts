import { html, nothing, type TemplateResult } from 'lit';
import { formatClock, plural } from '../format.js';
import type { LogRow } from './log-buffer.js';
import { toSegments, type LogSegment } from './log-search.js';

export interface RowLook {
  needle: string;
  hasTimes: boolean;
  /** CSS width of the text when lines are wrapped. */
  textWidth: string;
  /** Index of the row that the search stands on, or -1. */
  current: number;
}

/** One row at its laid-out height, in pixels. */
export function renderRow(row: LogRow, heightPx: number, look: RowLook): TemplateResult {
  if (row.gap > 0) {
    return html`<div class="row gap" .style=${`height: ${heightPx}px`}>
      ${plural(row.gap, 'line')} missing here; the downloaded log may contain them
    </div>`;
  }
  const classes = `row ${row.isError ? 'error' : ''} ${row.index === look.current ? 'current' : ''}`;
  return html`<div class=${classes} .style=${`height: ${heightPx}px`}>
    ${renderGutter(row, look)}<span class="text" dir="ltr" .style=${`width: ${look.textWidth}`}
      >${renderText(row, look.needle)}</span
    >
  </div>`;
}

function renderGutter(row: LogRow, look: RowLook) {
  const mark = row.isError ? html`<span title="stderr">E</span>` : html`<span title="stdout"> </span>`;
  return html`<span class="gutter">${look.hasTimes ? `${formatClock(row.ts)} ` : nothing}${mark}</span>`;
}

function renderText(row: LogRow, needle: string) {
  if (row.colored === null && (needle === '' || !row.text.toLowerCase().includes(needle))) return row.text;
  return toSegments(row, needle).map(renderSegment);
}

function renderSegment(segment: LogSegment) {
  const classes = [
    segment.color === null ? '' : `c${segment.color}`,
    segment.isBold ? 'bold' : '',
    segment.isDim ? 'dim' : '',
    segment.isItalic ? 'italic' : '',
    segment.isUnderlined ? 'underlined' : '',
  ].filter(Boolean);
  const text = segment.isMatch ? html`<mark>${segment.text}</mark>` : segment.text;
  return classes.length === 0 ? text : html`<span class=${classes.join(' ')}>${text}</span>`;
}
