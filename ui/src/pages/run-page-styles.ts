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
    display: inline-block;
    line-height: var(--target-min);
    color: inherit;
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  .reasons summary {
    width: fit-content;
    line-height: var(--target-min);
    cursor: pointer;
  }
  .reasons ul {
    display: grid;
    gap: var(--space-1);
  }
  .reasons > a {
    justify-self: start;
  }
  .reasons .room {
    visibility: hidden;
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
  @media (max-width: 40rem) {
    .page-head .actions {
      margin-left: 0;
    }
    .figures svc-progress {
      width: 100%;
    }
  }
`;
