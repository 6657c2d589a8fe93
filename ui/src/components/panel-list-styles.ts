import { css } from 'lit';

/** Rows of a panel that are not a table: each says a few things, in lines. */
export const panelListStyles = css`
  li {
    position: relative;
    display: grid;
    gap: 0 var(--space-4);
    align-items: center;
    min-height: 3rem;
    padding: var(--space-2) var(--space-4);
    border-top: 1px solid var(--color-line);
    font-size: var(--text-sm);
  }
  li:first-child {
    border-top: 0;
  }
  li > * {
    min-width: 0;
  }
  a.name {
    color: var(--color-text);
    font-weight: var(--weight-medium);
  }
  .sub {
    color: var(--color-text-2);
    font-size: var(--text-xs);
    overflow-wrap: anywhere;
  }
  a.name,
  .sub a,
  .links a {
    line-height: var(--target-min);
  }
  .sub a {
    display: inline-block;
    text-decoration: underline;
    text-decoration-color: color-mix(in srgb, currentColor 35%, transparent);
    text-underline-offset: 3px;
  }
  .end {
    color: var(--color-text-2);
    font-size: var(--text-xs);
    text-align: right;
    white-space: nowrap;
  }
  .empty {
    padding: var(--space-5) var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .more {
    display: block;
    padding: var(--space-2) var(--space-4);
    border-top: 1px solid var(--color-line);
    font-size: var(--text-sm);
  }
`;
