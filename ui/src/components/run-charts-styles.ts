import { css } from 'lit';

export const runChartsStyles = css`
  .tools {
    position: sticky;
    z-index: 6;
    top: 0;
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-4);
    margin-bottom: var(--space-2);
    padding-block: var(--space-2);
    background: var(--color-bg);
  }
  .live {
    display: flex;
    gap: var(--space-3);
    margin-right: auto;
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-normal);
  }
  label,
  .range {
    display: inline-flex;
    align-items: center;
    gap: var(--space-2);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .range .input {
    width: 5rem;
    padding: 0 var(--space-2);
    appearance: textfield;
  }
  .range .input::-webkit-inner-spin-button {
    display: none;
  }
  input[type='search'] {
    width: 11rem;
  }
  input[type='range'] {
    width: 7rem;
    accent-color: var(--color-accent);
  }
  output {
    min-width: 2.25rem;
    font-variant-numeric: tabular-nums;
  }
  .segmented button:disabled {
    color: var(--color-text-3);
    cursor: not-allowed;
  }
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
  @media (pointer: coarse) {
    .hint {
      display: none;
    }
  }
  @media (max-width: 56rem) {
    .tools {
      position: static;
    }
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
  .fold .quiet {
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
