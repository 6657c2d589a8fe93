import { css } from 'lit';

export const comparePageStyles = css`
  section.panel,
  .panel.none {
    margin-bottom: var(--space-4);
  }
  .lead {
    max-width: 44rem;
    margin-bottom: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .lead a {
    text-decoration: underline;
    text-underline-offset: 3px;
  }
  .link {
    display: inline-flex;
    align-items: center;
    gap: var(--space-1);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .picker {
    margin-bottom: var(--space-6);
  }
  .notes {
    display: grid;
    gap: var(--space-1);
    margin-bottom: var(--space-3);
    color: var(--color-warning);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .notes li {
    display: flex;
    align-items: baseline;
    gap: var(--space-2);
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-4);
    margin: var(--space-6) 0 var(--space-3);
  }
  .hint {
    margin-right: auto;
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .tools label {
    display: inline-flex;
    align-items: center;
    gap: var(--space-2);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .tools input[type='range'] {
    width: 7rem;
    accent-color: var(--color-accent);
  }
  output {
    min-width: 2.25rem;
    font-variant-numeric: tabular-nums;
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
    padding: var(--space-6) var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    text-align: center;
  }
  @media (pointer: coarse) {
    .hint {
      visibility: hidden;
    }
  }
  @media (max-width: 40rem) {
    .hint {
      display: none;
    }
    .choices ul {
      right: auto;
      left: 0;
      min-width: 0;
      max-width: min(26rem, calc(100vw - 8rem));
    }
  }
`;
