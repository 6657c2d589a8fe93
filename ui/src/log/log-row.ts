import { html, nothing, type TemplateResult } from 'lit';
import { formatClock, formatCount } from '../format.js';
import { CUT_CHARS, type LogRow } from './log-rows.js';
import { toLowerCase, toSegments, type LogSegment } from './log-search.js';

export interface RowLook {
  readonly needle: string;
  readonly hasTimes: boolean;
  /** Characters of the longest line number. */
  readonly digits: number;
  /** The seq of the line that the reader has gone to, or -1. */
  readonly current: number;
  linkTo(seq: number): string;
  onAll(row: LogRow): void;
}

/** A line that is being read. */
export function renderUnread(seq: number, lines: number, look: RowLook): TemplateResult {
  return html`<div class="row unread" .style=${heightOf(lines)}>
    <span class="gutter">${numberText(seq, look)}</span><span class="text">…</span>
  </div>`;
}

/**
 * One row, so many text lines high. Rows are made anew while somebody scrolls, so that each element and each inline style of them
 * costs: a row has three elements, and no style unless it is higher than the others.
 */
export function renderRow(row: LogRow, lines: number, look: RowLook): TemplateResult {
  if (row.isMissing) {
    return html`<div class="row missing" .style=${heightOf(lines)}>
      <span class="gutter">${numberText(row.seq, look)}</span>line missing; the downloaded log may contain it
    </div>`;
  }
  const classes = `row${row.isError ? ' error' : ''}${row.seq === look.current ? ' current' : ''}`;
  return html`<div class=${classes} .style=${heightOf(lines)}>
    ${row.seq < 0 ? renderNoNumber(row, look) : renderNumber(row, look)}<span class="text" dir="ltr"
      >${renderText(row, look.needle)}${row.isCut ? renderRest(row, look) : nothing}</span
    >
  </div>`;
}

function heightOf(lines: number): string | typeof nothing {
  return lines === 1 ? nothing : `height: calc(${lines} * var(--line))`;
}

function numberText(seq: number, { digits }: RowLook): string {
  return String(seq + 1).padStart(digits);
}

/** The number is a link to the line; the tab key does not stop at each. */
function renderNumber(row: LogRow, look: RowLook) {
  const text = numberText(row.seq, look) + besideNumber(row, look);
  return html`<a
    class="gutter"
    href=${look.linkTo(row.seq)}
    tabindex="-1"
    aria-label="Link to line ${text.trim()}"
    title=${row.isError ? 'stderr, link to this line' : 'Link to this line'}
    .textContent=${text}
  ></a>`;
}

function renderNoNumber(row: LogRow, look: RowLook) {
  const text = ' '.repeat(look.digits) + besideNumber(row, look);
  return html`<span class="gutter" title=${row.isError ? 'stderr' : 'stdout'} .textContent=${text}></span>`;
}

function besideNumber(row: LogRow, { hasTimes }: RowLook): string {
  return ` ${hasTimes ? `${formatClock(row.ts)} ` : ''}${row.isError ? 'E' : ' '}`;
}

function renderRest(row: LogRow, look: RowLook) {
  return html`<button class="all" @click=${() => look.onAll(row)}>
    show all ${formatCount(row.text.length)} characters
  </button>`;
}

function renderText(row: LogRow, needle: string) {
  if (row.colored === null && (needle === '' || !toLowerCase(row.text).includes(needle)))
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
