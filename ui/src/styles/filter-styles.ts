import { css } from 'lit';

/** A choice of a filter, in `svc-filters` and beside it. */
export const chipStyles = css`
  .chip {
    display: inline-flex;
    align-items: baseline;
    gap: 0.375rem;
    height: 1.75rem;
    padding: 0 0.625rem;
    border: 1px solid var(--color-line-strong);
    border-radius: var(--radius-full);
    background: var(--color-surface);
    color: var(--color-text-2);
    font: inherit;
    font-size: var(--text-sm);
    line-height: 1.625rem;
    white-space: nowrap;
    cursor: pointer;
  }
  .chip:hover {
    background: var(--color-hover);
    color: var(--color-text);
  }
  .chip[aria-pressed='true'] {
    border-color: var(--color-accent);
    background: var(--color-accent-soft);
    color: var(--color-accent);
    /* Bolder letters would move the choices behind it. */
    box-shadow: inset 0 0 0 1px var(--color-accent);
  }
  .count {
    min-width: 1ch;
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .chip[aria-pressed='true'] .count {
    color: inherit;
  }
  @media (max-width: 56rem) {
    .chip {
      height: 2.25rem;
      line-height: 2.125rem;
    }
  }
`;
