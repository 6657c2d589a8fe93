import { css, html, nothing } from 'lit';
import { formatCount } from '../format.js';

/** So many rows of a long table are drawn at first, and as many more whenever they are asked for. */
export const ROWS_AT_ONCE = 200;

export const moreRowsStyles = css`
  .more {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
    padding: var(--space-2) var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
`;

/** Below a table of which only some rows are drawn. */
export function renderMore(shown: number, total: number, noun: string, showMore: () => void) {
  if (total <= shown) return nothing;
  const next = Math.min(ROWS_AT_ONCE, total - shown);
  return html`<p class="more">
    <span>The first ${formatCount(shown)} of ${formatCount(total)} ${noun}.</span>
    <button class="button" @click=${showMore}>Show ${formatCount(next)} more</button>
  </p>`;
}
