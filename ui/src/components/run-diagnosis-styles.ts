import { css } from 'lit';

export const runDiagnosisStyles = css`
  .body {
    display: grid;
    gap: var(--space-6);
    padding: var(--space-5) var(--space-4);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .body > * {
    min-width: 0;
  }
  .summary {
    max-width: 60rem;
    font-size: var(--text-md);
  }
  h2 {
    margin-bottom: var(--space-3);
  }
  .fine {
    color: var(--color-success);
  }
  .anomalies {
    display: grid;
    gap: var(--space-3);
  }
  .anomalies > li {
    display: flex;
    gap: var(--space-3);
    max-width: 60rem;
    padding: var(--space-3) var(--space-4);
    border-radius: var(--radius-md);
    background: var(--color-neutral-soft);
    --icon-ground: var(--color-neutral-soft);
  }
  .anomalies > li > div {
    min-width: 0;
  }
  .anomalies > .warning {
    background: var(--color-warning-soft);
    --icon-ground: var(--color-warning-soft);
  }
  .anomalies > .critical {
    background: var(--color-danger-soft);
    --icon-ground: var(--color-danger-soft);
  }
  .warning .sign {
    color: var(--color-warning);
  }
  .critical .sign {
    color: var(--color-danger);
  }
  .evidence {
    display: flex;
    flex-wrap: wrap;
    gap: 0 var(--space-4);
    margin-top: var(--space-1);
    color: var(--color-text-2);
  }
  .evidence a,
  .actions a {
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  .fixes {
    margin-top: var(--space-2);
    padding-left: var(--space-4);
    list-style: disc;
  }
  .actions {
    display: grid;
    gap: var(--space-1);
    max-width: 60rem;
    padding-left: var(--space-5);
    list-style: decimal;
  }
  .facts {
    grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr));
  }
  pre {
    max-height: 18rem;
    margin: 0;
    padding: var(--space-3);
    border: 1px solid var(--color-line);
    border-radius: var(--radius-md);
    background: var(--color-log);
    font-family: var(--font-mono);
    font-size: var(--text-xs);
    white-space: pre-wrap;
    overflow: auto;
  }
  pre > span {
    display: block;
  }
`;
