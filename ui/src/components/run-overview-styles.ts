import { css } from 'lit';

export const runOverviewStyles = css`
  .overview {
    display: grid;
    grid-template-columns: minmax(16rem, 1fr) minmax(0, 2.2fr);
    align-items: start;
    gap: var(--space-4);
    margin-bottom: var(--space-5);
  }
  .facts-panel {
    display: grid;
    gap: var(--space-4);
    padding: var(--space-4);
  }
  .notes {
    color: var(--color-text-2);
    font-size: var(--text-sm);
    white-space: pre-line;
  }
  .none {
    padding: var(--space-8) var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    text-align: center;
  }
  .details {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr));
    align-items: start;
    gap: var(--space-4);
    margin-top: var(--space-5);
  }
  .wide,
  .events {
    grid-column: 1 / -1;
  }
  .all {
    margin-left: auto;
    font-size: var(--text-sm);
  }
  @media (max-width: 64rem) {
    .overview {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;
