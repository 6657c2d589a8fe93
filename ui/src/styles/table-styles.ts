import { css } from 'lit';

/**
 * Rows in columns, or cards in a container that is too narrow for columns. The page sets --columns, and --row-end where the space after
 * the last column is another one; the element around all rows is the container.
 */
export const tableStyles = css`
  .row,
  .head {
    display: grid;
    grid-template-columns: var(--columns);
    align-items: center;
    column-gap: var(--space-4);
    padding: 0 var(--row-end, var(--space-4)) 0 var(--space-4);
  }
  .head > * {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .head {
    height: 2.25rem;
    border-bottom: 1px solid var(--color-line);
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-medium);
  }
  .row {
    position: relative;
    min-height: 2.375rem;
    padding-block: 0.3125rem;
    border-bottom: 1px solid var(--color-line);
    font-size: var(--text-sm);
  }
  .row:last-child {
    border-bottom: 0;
    border-radius: 0 0 var(--radius-lg) var(--radius-lg);
  }
  .row:hover {
    background: var(--color-hover);
  }
  .row > * {
    min-width: 0;
  }
  .row a.name {
    color: var(--color-text);
    font-weight: var(--weight-medium);
  }
  .row a.name::after {
    content: '';
    position: absolute;
    inset: 0;
  }
  .row a.name:hover {
    text-decoration: none;
  }
  .row a.name:focus-visible {
    outline: none;
  }
  .row:has(a.name:focus-visible) {
    outline: 2px solid var(--color-focus);
    outline-offset: -2px;
  }
  .row .above {
    position: relative;
    z-index: 1;
  }
  .number {
    text-align: right;
  }
  @container (max-width: 50rem) {
    .head {
      display: none;
    }
  }
`;

/** Of a `<table>` that scrolls under its head. */
export const dataTableStyles = css`
  .scroll {
    overflow: auto;
  }
  table {
    width: 100%;
    border-spacing: 0;
    font-size: var(--text-sm);
  }
  th {
    text-align: left;
  }
  thead th {
    position: sticky;
    top: 0;
    z-index: 1;
    height: 2.25rem;
    background: var(--color-surface);
    border-bottom: 1px solid var(--color-line);
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-medium);
    white-space: nowrap;
  }
  tbody th {
    font-weight: var(--weight-medium);
  }
  tbody tr + tr > * {
    border-top: 1px solid var(--color-line);
  }
  tbody tr:hover {
    background: var(--color-hover);
  }
  .number {
    text-align: right;
    white-space: nowrap;
  }
`;

/** A row that is an element of its own, in a table. */
export const rowStyles = [
  tableStyles,
  css`
    :host {
      display: block;
      border-top: 1px solid var(--color-line);
    }
    :host(:first-of-type) {
      border-top: 0;
    }
    .row {
      border: 0;
      border-radius: 0;
    }
    :host(:last-of-type) .row {
      border-radius: 0 0 var(--radius-lg) var(--radius-lg);
    }
  `,
];
