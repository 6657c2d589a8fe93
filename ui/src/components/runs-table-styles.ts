import { css } from 'lit';

export const runsTableStyles = css`
  :host {
    --row: 2.375rem;
    --ground: var(--color-surface);
  }
  .scroll {
    position: relative;
    max-height: max(18rem, calc(100dvh - 13.25rem));
    border-radius: var(--radius-lg);
    overflow: auto;
    overscroll-behavior-x: contain;
    scroll-padding-top: var(--row);
  }
  .scroll:focus-visible {
    outline-offset: -2px;
    border-radius: var(--radius-lg);
  }
  .sheet {
    position: relative;
    min-width: var(--width);
  }
  .row,
  .head {
    display: grid;
    grid-template-columns: var(--columns);
    height: var(--row);
    border-bottom: 1px solid var(--color-line);
    background: var(--ground);
    font-size: var(--text-sm);
  }
  .row {
    contain: strict;
  }
  .row {
    cursor: default;
  }
  .row.run {
    cursor: pointer;
  }
  .row:hover {
    --ground: var(--color-hover);
  }
  .row.selected {
    --ground: var(--color-accent-soft);
  }
  .row.group {
    --ground: var(--color-sunken);
    font-weight: var(--weight-medium);
  }
  .scroll:focus-visible .row.active,
  .scroll:focus-visible .row.active .first {
    --ground: var(--color-hover);
  }
  .scroll:focus-visible .row.active {
    outline: 2px solid var(--color-focus);
    outline-offset: -2px;
  }
  .head {
    position: sticky;
    z-index: 3;
    top: 0;
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-medium);
  }
  .cell {
    display: flex;
    align-items: center;
    min-width: 0;
    padding: 0 var(--space-3);
    overflow: hidden;
  }
  .cell.number {
    justify-content: flex-end;
    text-align: right;
  }
  .first {
    position: sticky;
    z-index: 2;
    left: 0;
    gap: var(--space-2);
    padding-left: var(--space-2);
    background: var(--ground);
    border-right: 1px solid var(--color-line);
  }
  .text {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .odd {
    color: var(--color-danger);
    font-weight: var(--weight-medium);
  }
  .at {
    margin-left: var(--space-1);
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .check {
    flex: none;
    display: grid;
    place-items: center;
    width: 1.75rem;
    height: 100%;
    cursor: pointer;
  }
  .check input {
    width: 0.9375rem;
    height: 0.9375rem;
    margin: 0;
    accent-color: var(--color-accent);
    cursor: pointer;
  }
  a.name {
    overflow: hidden;
    color: var(--color-text);
    line-height: var(--leading-tight);
    font-weight: var(--weight-medium);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  /* Text that wraps costs more to lay out, so only names that need it do. */
  a.name.long {
    max-height: calc(2em * var(--leading-tight));
    overflow-wrap: anywhere;
    white-space: normal;
  }
  /* No room of the two lines is left free. */
  a.name.full {
    word-break: break-all;
  }
  .tags {
    display: flex;
    gap: var(--space-1);
    min-width: 0;
    overflow: hidden;
  }
  .tag {
    flex: 0 1 auto;
    min-width: 2.25rem;
    max-width: 9rem;
    padding: 0 0.375rem;
    border-radius: var(--radius-sm);
    background: var(--color-neutral-soft);
    color: var(--color-neutral);
    font-size: var(--text-xs);
    line-height: 1.25rem;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .progress {
    --bar: var(--color-line-control);
    flex: 1;
    display: flex;
    gap: var(--space-2);
    justify-content: space-between;
    min-width: 0;
    padding-bottom: 0.3125rem;
    background:
      linear-gradient(var(--bar), var(--bar)) bottom left / var(--part) 3px no-repeat,
      linear-gradient(var(--color-neutral-soft), var(--color-neutral-soft)) bottom left / 100% 3px no-repeat;
    color: var(--color-text-2);
    font-size: var(--text-xs);
    white-space: nowrap;
  }
  .progress.RUNNING {
    --bar: var(--color-accent);
  }
  .sort {
    display: inline-flex;
    align-items: center;
    gap: 0.25rem;
    min-width: 0;
    max-width: 100%;
    height: 1.75rem;
    padding: 0 var(--space-1);
    margin: 0 calc(-1 * var(--space-1));
    border: 0;
    border-radius: var(--radius-sm);
    background: none;
    color: inherit;
    font: inherit;
    cursor: pointer;
  }
  .sort:hover {
    background: var(--color-hover);
    color: var(--color-text);
  }
  .sort[data-sorted] {
    color: var(--color-accent);
  }
  .kind {
    flex: none;
    padding: 0 0.25rem;
    border-radius: var(--radius-sm);
    background: var(--color-neutral-soft);
    color: var(--color-neutral);
    font-weight: var(--weight-normal);
  }
  .toggle {
    color: var(--color-text-3);
    transition: rotate var(--duration-fast);
  }
  .toggle.open {
    rotate: 90deg;
  }
  .groupcell {
    gap: var(--space-2);
  }
  .group .first {
    grid-column: 1 / -1;
    width: min(100vw - 3rem, 40rem);
    border-right: 0;
  }
  .count {
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-normal);
  }
  @media (max-width: 56rem) {
    .scroll {
      max-height: max(20rem, calc(100dvh - 9rem));
    }
  }
  @media (pointer: coarse) {
    :host {
      --row: 2.75rem;
    }
    .check {
      width: 2.25rem;
    }
  }
`;
