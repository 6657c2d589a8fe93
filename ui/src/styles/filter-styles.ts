import { css } from 'lit';

/** A row of filter chips with counts; on a phone it scrolls sideways. */
export const filterStyles = css`
  .filters {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-1);
    margin-bottom: var(--space-3);
  }
  .filters > button {
    display: inline-flex;
    align-items: baseline;
    gap: 0.375rem;
    height: 1.75rem;
    padding: 0 0.625rem;
    line-height: 1.625rem;
    border: 1px solid var(--color-line-strong);
    border-radius: var(--radius-full);
    background: var(--color-surface);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    white-space: nowrap;
    cursor: pointer;
  }
  .filters > button:hover {
    background: var(--color-hover);
    color: var(--color-text);
  }
  .filters > button[aria-pressed='true'] {
    border-color: var(--color-accent);
    background: var(--color-accent-soft);
    color: var(--color-accent);
    font-weight: var(--weight-medium);
  }
  .filters .count {
    min-width: 1ch;
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .filters > button[aria-pressed='true'] .count {
    color: inherit;
  }
  .filters .select {
    max-width: 15rem;
  }
  @media (max-width: 56rem) {
    .filters {
      flex-wrap: nowrap;
      margin-inline: calc(-1 * var(--space-4));
      padding: 2px var(--space-4);
      overflow-x: auto;
      scrollbar-width: none;
    }
    .filters > button {
      height: 2.25rem;
      line-height: 2.125rem;
    }
    .filters > * {
      flex: none;
    }
  }
`;
