import { css } from 'lit';

export const runPageStyles = css`
  .source {
    font-size: var(--text-xs);
  }
  .figures {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-5);
    min-height: 1.75rem;
    margin-bottom: var(--space-4);
    font-size: var(--text-sm);
  }
  .figures svc-progress {
    width: 16rem;
  }
  .primary {
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .primary b {
    font-weight: var(--weight-strong);
  }
  .odd {
    color: var(--color-danger);
  }
  .reasons a {
    color: inherit;
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  .reasons {
    display: grid;
    gap: var(--space-1);
    margin-bottom: var(--space-4);
    padding: var(--space-2) var(--space-4);
    border-radius: var(--radius-md);
    background: var(--color-warning-soft);
    color: var(--color-warning);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .reasons.critical {
    background: var(--color-danger-soft);
    color: var(--color-danger);
  }
  .reasons .icon {
    margin-right: var(--space-2);
  }
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
  @media (max-width: 40rem) {
    .page-head .actions {
      margin-left: 0;
    }
    .figures svc-progress {
      width: 100%;
    }
  }
`;
