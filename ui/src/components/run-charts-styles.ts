import { css } from 'lit';

export const runChartsStyles = css`
  .problem {
    margin-bottom: var(--space-3);
    color: var(--color-danger);
    font-size: var(--text-sm);
  }
  .more {
    display: flex;
    justify-content: center;
    margin-top: var(--space-4);
  }
`;

/** Charts in a grid under a heading that folds them. */
export const chartGridStyles = css`
  .fold {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    width: 100%;
    margin-top: var(--space-2);
    padding: var(--space-2) 0;
    border: 0;
    background: none;
    color: var(--color-text);
    font: inherit;
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
    text-align: left;
    overflow-wrap: anywhere;
    cursor: pointer;
  }
  .fold:hover {
    color: var(--color-accent);
  }
  .fold .icon {
    color: var(--color-text-3);
  }
  .fold bdi {
    min-width: 0;
  }
  .fold .quiet {
    flex: none;
    font-weight: var(--weight-normal);
  }
  .grid {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr));
    gap: var(--space-4);
  }
  svc-chart {
    height: 17rem;
    border: 1px solid var(--color-line);
    border-radius: var(--radius-lg);
    background: var(--color-surface);
    scroll-margin: 5rem;
  }
`;
