import { formatClock, formatCount } from '../format.js';
import { CUT_CHARS, type LogRow } from './log-rows.js';
import { toLowerCase, toSegments, type LogSegment } from './log-search.js';

/** How all rows are drawn. */
export interface RowLook {
  readonly needle: string;
  readonly hasTimes: boolean;
  /** Characters of the longest line number. */
  readonly digits: number;
  /** The seq of the line that the reader has gone to, or -1. */
  readonly current: number;
  /** The address of the log as it is shown. It has a query. */
  readonly address: string;
  onAll(row: LogRow): void;
}

/** What one row shows. `row` undefined: the line is being read. `seq` below 0: it has no number yet. */
export interface RowContent {
  readonly seq: number;
  readonly row: LogRow | undefined;
  /** How many text lines high it is. */
  readonly lines: number;
}

export function toLineAddress(address: string, seq: number): string {
  return `${address}&line=${seq + 1}`;
}

/**
 * A row in the page. It is given another line rather than made anew while somebody scrolls, and only what differs is
 * written. Each element and each inline style costs: it has three elements, and no style unless it is higher than the others.
 */
export class RowElement {
  readonly element = document.createElement('div');
  readonly #gutter = document.createElement('a');
  readonly #text = document.createElement('span');
  readonly #setClasses = onChange((classes: string) => (this.element.className = classes));
  readonly #setNumber = onChange((text: string) => setText(this.#gutter, text));
  readonly #setLabel = onChange((label: string | null) => {
    if (label === null) this.#gutter.removeAttribute('aria-label');
    else this.#gutter.ariaLabel = label;
  });
  readonly #setTitle = onChange((title: string) => (this.#gutter.title = title));
  readonly #setLink = onChange((address: string | null) => {
    if (address === null) this.#gutter.removeAttribute('href');
    else this.#gutter.href = address;
  });
  readonly #setHeight = onChange((lines: number) => {
    this.element.style.height = lines === 1 ? '' : `calc(${lines} * var(--line))`;
  });
  #drawn: readonly unknown[] = [];

  constructor() {
    this.#gutter.className = 'gutter';
    this.#gutter.tabIndex = -1;
    this.#text.className = 'text';
    this.#text.dir = 'ltr';
    this.element.append(this.#gutter, this.#text);
  }

  draw({ seq, row, lines }: RowContent, look: RowLook): void {
    const hasLink = row !== undefined && !row.isMissing && seq >= 0;
    this.#setClasses(classesOf(row, seq === look.current));
    this.#setHeight(lines);
    const number = gutterOf(seq, row, look);
    this.#setNumber(number);
    this.#setLabel(hasLink ? `Link to line ${number.trim()}` : null);
    this.#setLink(hasLink ? toLineAddress(look.address, seq) : null);
    this.#setTitle(hasLink ? `Link to this line of ${streamOf(row)}` : '');
    const drawn = [row, row?.isCut, look.needle];
    if (drawn.every((one, at) => one === this.#drawn[at]) && this.#drawn.length > 0) return;
    this.#drawn = drawn;
    drawText(this.#text, row, look);
  }
}

/** Calls `write` only with another value than before. */
function onChange<T>(write: (value: T) => void): (value: T) => void {
  let before: T | undefined;
  return (value) => {
    if (value === before) return;
    before = value;
    write(value);
  };
}

/** The text node stays: what is new is its data. */
function setText(element: Element, text: string): void {
  const { firstChild } = element;
  if (firstChild instanceof Text && firstChild === element.lastChild) firstChild.data = text;
  else element.textContent = text;
}

function classesOf(row: LogRow | undefined, isCurrent: boolean): string {
  if (!row) return 'row unread';
  if (row.isMissing) return 'row missing';
  return `row${row.isError ? ' error' : ''}${isCurrent ? ' current' : ''}`;
}

/** Its number, its time, and whether it is of stderr. */
function gutterOf(seq: number, row: LogRow | undefined, { digits, hasTimes }: RowLook): string {
  const number = (seq < 0 ? '' : String(seq + 1)).padStart(digits);
  if (!row || row.isMissing) return number;
  return `${number} ${hasTimes ? `${formatClock(row.ts)} ` : ''}${row.isError ? 'E' : ' '}`;
}

function streamOf(row: LogRow): string {
  return row.isError ? 'stderr' : 'stdout';
}

function drawText(element: HTMLElement, row: LogRow | undefined, look: RowLook): void {
  if (!row) return setText(element, '…');
  if (row.isMissing) return setText(element, 'line missing; the downloaded log may contain it');
  const isPlain =
    row.colored === null && (look.needle === '' || !toLowerCase(row.text).includes(look.needle));
  if (isPlain && !row.isCut) return setText(element, row.text);
  const pieces = isPlain ? [row.text.slice(0, CUT_CHARS)] : toSegments(row, look.needle).map(toNode);
  element.replaceChildren(...pieces, ...(row.isCut ? [toRest(row, look)] : []));
}

function toRest(row: LogRow, look: RowLook): HTMLButtonElement {
  const button = document.createElement('button');
  button.className = 'all';
  button.textContent = `show all ${formatCount(row.text.length)} characters`;
  button.addEventListener('click', () => look.onAll(row));
  return button;
}

function toNode(segment: LogSegment): Node | string {
  const classes = [
    segment.color === null ? '' : `c${segment.color}`,
    segment.isBold ? 'bold' : '',
    segment.isDim ? 'dim' : '',
    segment.isItalic ? 'italic' : '',
    segment.isUnderlined ? 'underlined' : '',
  ].filter(Boolean);
  const text = segment.isMatch ? toElement('mark', '', segment.text) : segment.text;
  return classes.length === 0 ? text : toElement('span', classes.join(' '), text);
}

function toElement(tag: string, classes: string, content: Node | string): HTMLElement {
  const element = document.createElement(tag);
  if (classes !== '') element.className = classes;
  element.append(content);
  return element;
}
