import { html } from 'lit';
import { Directive, directive, PartType, type ElementPart, type PartInfo } from 'lit/directive.js';
import { layOutPartials } from './log-layout.js';
import type { LogPlace } from './log-place.js';
import { RowElement, type RowContent, type RowLook } from './log-row.js';
import type { LogRow } from './log-rows.js';

/** The gutter's characters beside the line number, without and with the time; its padding and the row's, in pixels. */
export const GUTTER_CELLS = { off: 2, on: 11 };
export const ROW_PADDING_PX = 44;

/** The part of a row beside its text, in pixels and in characters. */
interface Gutter {
  readonly px: number;
  readonly cells: number;
}

/** The rows in view, as high as all would be together, and the lines without an end behind them. */
export function renderWindow(
  place: LogPlace,
  partialRows: readonly LogRow[],
  look: RowLook,
  { px, cells }: Gutter,
) {
  const { layout, window: view } = place;
  const partial = layOutPartials(partialRows, layout.columns);
  const lineHeight = place.room.lineHeightPx;
  const widest = Math.max(layout.maxCells, partial.maxCells) + cells;
  const width =
    layout.columns === null
      ? `width: max(100%, calc(${widest}ch + ${px}px))`
      : `--text-width: ${layout.columns}ch`;
  const partials = partialRows.map((row, at) => ({ seq: -1 - at, row, lines: partial.linesOf(at) }));
  return html`<div
    class="sizer"
    .style=${`height: ${(layout.lineTotal + partial.lineTotal) * lineHeight}px; ${width}`}
  >
    <div
      class="window"
      .style=${`transform: translateY(${view.above * lineHeight}px)`}
      ${drawRows(contentsOf(place), look)}
    ></div>
    <div
      class="partials"
      .style=${`transform: translateY(${layout.lineTotal * lineHeight}px)`}
      ${drawRows(partials, { ...look, needle: '', current: -1 })}
    ></div>
  </div>`;
}

function contentsOf({ positionsInView, space, layout, rowAt }: LogPlace): RowContent[] {
  return positionsInView.map((position) => ({
    seq: space.seqAt(position),
    row: rowAt(position),
    lines: layout.linesOf(position),
  }));
}

/** Keeps the rows of the element as they should be. A line that stays keeps its row; rows of lines that went are given to those that came. */
class RowsDirective extends Directive {
  #rows = new Map<number, RowElement>();

  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error('drawRows is of an element');
  }

  /** Nothing is rendered by lit. */
  render(_contents: readonly RowContent[], _look: RowLook): void {}

  override update({ element }: ElementPart, [contents, look]: Parameters<this['render']>): void {
    const before = this.#rows;
    this.#rows = new Map();
    const free = this.#takeFree(before, contents);
    let next = element.firstChild;
    for (const content of contents) {
      const kept = before.get(content.seq);
      const row = kept ?? free.get(next) ?? free.values().next().value ?? new RowElement();
      free.delete(row.element);
      row.draw(content, look);
      if (kept || row.element === next) next = row.element.nextSibling;
      else element.insertBefore(row.element, next);
      this.#rows.set(content.seq, row);
    }
    for (const row of free.values()) row.element.remove();
  }

  /** Rows of lines that went. What was selected in them leaves the selection only when they leave the page. */
  #takeFree(
    before: ReadonlyMap<number, RowElement>,
    contents: readonly RowContent[],
  ): Map<Node | null, RowElement> {
    const wanted = new Set(contents.map(({ seq }) => seq));
    const free = new Map<Node | null, RowElement>();
    const isSelecting = getSelection()?.type === 'Range';
    for (const [seq, row] of before) {
      if (wanted.has(seq)) continue;
      free.set(row.element, row);
      if (isSelecting) row.element.remove();
    }
    return free;
  }
}

const drawRows = directive(RowsDirective);
