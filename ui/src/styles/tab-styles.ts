import { css } from 'lit';

/** Links to the parts of a page, in a row: `nav.tabs`. */
export const tabStyles = css`
  .tabs {
    display: flex;
    gap: var(--space-1);
    margin-bottom: var(--space-4);
    border-bottom: 1px solid var(--color-line);
    overflow-x: auto;
  }
  .tabs a {
    padding: var(--space-2) var(--space-3);
    border-bottom: 2px solid transparent;
    color: var(--color-text-2);
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
    white-space: nowrap;
  }
  .tabs a:hover {
    color: var(--color-text);
    text-decoration: none;
  }
  .tabs a[aria-current='page'] {
    border-bottom-color: var(--color-accent);
    color: var(--color-accent);
  }
`;
