import { html, nothing, type TemplateResult } from 'lit';
import { formatClock, formatCount } from '../format.js';
import { CUT_CHARS, type LogRow } from './log-rows.js';
import { toSegments, type LogSegment } from './log-search.js';

export interface RowLook {
  readonly needle: string;
  readonly hasTimes: boolean;
  /** Characters of the longest line number. */
  readonly digits: number;
  /** CSS width of the text when lines are wrapped. */
  readonly textWidth: string;
  /** The seq of the line that the reader has gone to, or -1. */
  readonly current: number;
  linkTo(seq: number): string;
  onAll(row: LogRow): void;
}

/** A line that is being read. */
export function renderUnread(seq: number, heightPx: number, look: RowLook): TemplateResult {
  return html`<div class="row unread" .style=${`height: ${heightPx}px`}>
    <span class="gutter">${numberText(seq, look)}</span><span class="text">…</span>
  </div>`;
}

/** One row at its laid-out height, in pixels. */
export function renderRow(row: LogRow, heightPx: number, look: RowLook): TemplateResult {
  if (row.isMissing) {
    return html`<div class="row missing" .style=${`height: ${heightPx}px`}>
      <span class="gutter">${numberText(row.seq, look)}</span>line missing; the downloaded log may contain it
    </div>`;
  }
  const classes = `row ${row.isError ? 'error' : ''} ${row.seq === look.current ? 'current' : ''}`;
  return html`<div class=${classes} .style=${`height: ${heightPx}px`}>
    ${renderGutter(row, look)}<span class="text" dir="ltr" .style=${`width: ${look.textWidth}`}
      >${renderText(row, look.needle)}${
        row.isCut
          ? html`<button class="all" @click=${() => look.onAll(row)}>
              show all ${formatCount(row.text.length)} characters
            </button>`
          : nothing
      }</span
    >
  </div>`;
}

function numberText(seq: number, { digits }: RowLook): string {
  return String(seq + 1).padStart(digits);
}

/** The number is a link to the line; the tab key does not stop at each. */
function renderGutter(row: LogRow, look: RowLook) {
  const mark = row.isError ? html`<span title="stderr">E</span>` : html`<span title="stdout"> </span>`;
  const number =
    row.seq < 0
      ? ' '.repeat(look.digits)
      : html`<a
          href=${look.linkTo(row.seq)}
          tabindex="-1"
          aria-label="Link to line ${row.seq + 1}"
          title="Link to this line"
          >${numberText(row.seq, look)}</a
        >`;
  return html`<span class="gutter"
    >${number} ${look.hasTimes ? `${formatClock(row.ts)} ` : nothing}${mark}</span
  >`;
}

function renderText(row: LogRow, needle: string) {
  if (row.colored === null && (needle === '' || !row.text.toLowerCase().includes(needle)))
    return row.isCut ? row.text.slice(0, CUT_CHARS) : row.text;
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
