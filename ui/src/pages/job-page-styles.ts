import { css } from 'lit';

export const jobPageStyles = css`
  :host(:not([whole])) svc-failure ~ * {
    visibility: hidden;
  }
  .outcome {
    display: flex;
    gap: var(--space-3);
    margin-bottom: var(--space-4);
    padding: var(--space-3) var(--space-4);
    border-radius: var(--radius-lg);
    background: var(--color-neutral-soft);
    color: var(--color-text);
    font-size: var(--text-sm);
  }
  .outcome .icon {
    margin-top: 0.15rem;
  }
  .outcome p {
    min-width: 0;
    white-space: pre-line;
    overflow-wrap: anywhere;
  }
  .outcome > div {
    flex: 1;
    min-width: 0;
  }
  .helps {
    display: grid;
    gap: var(--space-2);
    margin-top: var(--space-1);
  }
  .helps li {
    display: grid;
    gap: var(--space-1);
    overflow-wrap: anywhere;
  }
  .helps a {
    white-space: nowrap;
    text-decoration: underline;
  }
  .timeline {
    display: grid;
    gap: var(--space-3);
    margin-bottom: var(--space-4);
    padding: var(--space-4);
  }
  .commands summary {
    width: fit-content;
    color: var(--color-text-2);
    font-size: var(--text-sm);
    cursor: pointer;
  }
  .commands svc-code {
    margin-top: var(--space-2);
  }
  .outcome b {
    font-weight: var(--weight-strong);
  }
  .outcome.danger {
    background: var(--color-danger-soft);
    color: var(--color-danger);
  }
  .outcome.warning {
    background: var(--color-warning-soft);
    color: var(--color-warning);
  }
  .overview {
    display: grid;
    align-items: stretch;
    gap: var(--space-4);
    margin-bottom: var(--space-4);
  }
  .overview.with-run {
    grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr);
  }
  .about {
    display: grid;
    align-content: start;
    gap: var(--space-4);
    padding: var(--space-4);
  }
  .run {
    display: grid;
    grid-template-rows: minmax(14rem, 1fr) auto;
  }
  .facts .wide {
    grid-column: span 2;
  }
  .command {
    display: grid;
    gap: var(--space-1);
    min-width: 0;
  }
  .label {
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-normal);
  }
  .runs {
    max-height: 6rem;
    overflow-y: auto;
    font-size: var(--text-sm);
  }
  .runs ul {
    display: flex;
    flex-wrap: wrap;
    gap: 0 var(--space-4);
  }
  .runs a {
    text-decoration: underline;
    text-decoration-color: color-mix(in srgb, currentColor 35%, transparent);
    text-underline-offset: 3px;
  }
  .run > .runs {
    padding: 0 var(--space-4) var(--space-3);
  }
  .attempts {
    margin-bottom: var(--space-4);
  }
  /* Also in a low window it ends inside, between the bars of the console. */
  .log {
    display: grid;
    height: calc(min(max(26rem, calc(100dvh - 9rem)), calc(100dvh - 1rem)) - var(--covered-bottom, 0px));
  }
  svc-notice a {
    text-decoration: underline;
  }
  .log:focus {
    outline: none;
  }
  .log.short,
  .log:has(svc-log-view[empty]) {
    height: 14rem;
    min-height: 0;
  }
  @media (max-width: 64rem) {
    .overview.with-run {
      grid-template-columns: minmax(0, 1fr);
    }
    .page-head .actions {
      margin-left: 0;
    }
    .log {
      height: calc(min(max(22rem, calc(100dvh - 11rem)), calc(100dvh - 8rem)) - var(--covered-bottom, 0px));
    }
  }
`;
