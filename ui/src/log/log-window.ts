import { html } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { layOutPartials } from './log-layout.js';
import type { LogPlace } from './log-place.js';
import { renderRow, renderUnread, type RowLook } from './log-row.js';
import type { LogRow } from './log-rows.js';

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
  return html`<div
    class="sizer"
    .style=${`height: ${(layout.lineTotal + partial.lineTotal) * lineHeight}px; ${width}`}
  >
    <div class="window" .style=${`transform: translateY(${view.above * lineHeight}px)`}>
      ${renderRows(place, look)}
    </div>
    <div class="partials" .style=${`transform: translateY(${layout.lineTotal * lineHeight}px)`}>
      ${partialRows.map((row, at) => renderRow(row, partial.linesOf(at), { ...look, needle: '' }))}
    </div>
  </div>`;
}

function renderRows(place: LogPlace, look: RowLook) {
  const { space, layout, rowAt } = place;
  return repeat(
    place.positionsInView,
    (position) => space.seqAt(position),
    (position) => {
      const lines = layout.linesOf(position);
      const row = rowAt(position);
      return row ? renderRow(row, lines, look) : renderUnread(space.seqAt(position), lines, look);
    },
  );
}
