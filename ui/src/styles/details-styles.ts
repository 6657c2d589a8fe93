import { css } from 'lit';

/** A heading that opens what stands under it. */
export const detailsStyles = css`
  summary {
    display: flex;
    align-items: baseline;
    gap: var(--space-2);
    padding: var(--space-3) var(--space-4);
    font-size: var(--text-md);
    font-weight: var(--weight-strong);
    cursor: pointer;
    list-style-position: inside;
  }
  summary::before {
    content: '›';
    display: inline-block;
    width: 0.75rem;
    color: var(--color-text-3);
    transition: rotate var(--duration-fast);
  }
  details[open] > summary::before {
    rotate: 90deg;
  }
  summary::-webkit-details-marker {
    display: none;
  }
  .count {
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-normal);
  }
`;
