import { css } from 'lit';

export const runOverviewStyles = css`
  .overview {
    display: grid;
    grid-template-columns: minmax(16rem, 1fr) minmax(0, 2fr);
    align-items: start;
    gap: var(--space-4);
  }
  .left {
    display: grid;
    gap: var(--space-4);
    min-width: 0;
  }
  .facts-panel {
    padding: var(--space-4);
  }
  .notes {
    padding: var(--space-3) var(--space-4) var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    white-space: pre-line;
    overflow-wrap: anywhere;
  }
  .none {
    padding: var(--space-8) var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    text-align: center;
  }
  .siblings {
    padding: var(--space-2) 0;
  }
  .siblings li {
    display: grid;
    grid-template-columns: 5.5rem auto minmax(0, 1fr) auto;
    align-items: center;
    gap: var(--space-3);
    min-height: 2.25rem;
    padding: 0 var(--space-4);
    font-size: var(--text-sm);
  }
  .siblings li[aria-current='true'] {
    background: var(--color-sunken);
  }
  .all {
    margin-left: auto;
    font-size: var(--text-sm);
  }
  @media (max-width: 88rem) {
    .overview {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;
