import { css } from 'lit';

export const compareChartsStyles = css`
  svc-chart-controls {
    margin-top: var(--space-6);
  }
  .choices {
    position: relative;
  }
  .choices summary {
    list-style: none;
  }
  .choices summary::-webkit-details-marker {
    display: none;
  }
  .choices ul {
    position: absolute;
    z-index: 5;
    top: calc(100% + var(--space-1));
    right: 0;
    width: max-content;
    min-width: 14rem;
    max-width: min(26rem, calc(100vw - 2rem));
    max-height: 22rem;
    padding: var(--space-2);
    overflow: auto;
    border-radius: var(--radius-md);
    background: var(--color-overlay);
    box-shadow: var(--shadow-overlay);
  }
  .choices label {
    display: flex;
    min-height: 1.875rem;
    padding: 0 var(--space-2);
    border-radius: var(--radius-sm);
    color: var(--color-text);
    cursor: pointer;
  }
  .choices label:hover {
    background: var(--color-hover);
  }
  .choices input {
    flex: none;
    accent-color: var(--color-accent);
  }
  .metric {
    flex: 1;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .choices .quiet {
    flex: none;
    font-size: var(--text-xs);
    font-weight: var(--weight-normal);
  }
  .grid {
    margin-bottom: var(--space-6);
  }
  .none {
    margin-bottom: var(--space-4);
    padding: var(--space-6) var(--space-4);
    border: 1px solid var(--color-line);
    border-radius: var(--radius-lg);
    background: var(--color-surface);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    text-align: center;
  }
  @media (max-width: 40rem) {
    .choices ul {
      right: auto;
      left: 0;
      min-width: 0;
      max-width: min(26rem, calc(100vw - 8rem));
    }
  }
`;
