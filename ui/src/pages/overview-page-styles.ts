import { css } from 'lit';

export const overviewPageStyles = css`
  .columns {
    display: grid;
    grid-template-areas: 'work events' 'gpus gpus';
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
    gap: var(--space-4);
    align-items: start;
    margin-bottom: var(--space-4);
  }
  .gpus {
    grid-area: gpus;
  }
  .events {
    grid-area: events;
  }
  .column {
    grid-area: work;
    display: grid;
    gap: var(--space-4);
    min-width: 0;
  }
  .panel-head a,
  .panel-head .button {
    margin-left: auto;
    font-size: var(--text-sm);
  }
  .panel-head .button {
    --control-height: 1.75rem;
    /* Its text ends where that of the rows below ends. */
    margin-right: calc(-1px - var(--space-3));
  }
  .count {
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .empty {
    padding: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .more {
    display: block;
    padding: var(--space-2) var(--space-4);
    border-top: 1px solid var(--color-line);
    font-size: var(--text-sm);
  }
  .broken {
    margin-bottom: var(--space-4);
    border-color: color-mix(in srgb, var(--color-danger) 45%, var(--color-line));
  }
  .broken .panel-head > .icon {
    color: var(--color-danger);
  }
  .fine {
    display: flex;
    align-items: baseline;
    gap: var(--space-2);
    margin-bottom: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .fine .icon {
    color: var(--color-success);
    align-self: center;
  }
  .fine.warning .icon {
    color: var(--color-warning);
  }
  h2:focus-visible,
  .fine:focus-visible {
    outline: none;
  }
  .first {
    max-width: 46rem;
    padding: var(--space-6);
  }
  .first h2 {
    font-size: var(--text-lg);
  }
  .first li {
    display: grid;
    gap: var(--space-2);
    margin-top: var(--space-6);
  }
  .first h3 {
    display: flex;
    align-items: baseline;
    gap: var(--space-2);
    margin: 0;
    font-size: var(--text-md);
  }
  .first p {
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .first p a {
    text-decoration: underline;
  }
  .first .number {
    flex: none;
    display: grid;
    place-items: center;
    width: 1.5rem;
    height: 1.5rem;
    border-radius: var(--radius-full);
    background: var(--color-accent-soft);
    color: var(--color-accent);
    font-size: var(--text-xs);
  }
  .first .done {
    color: var(--color-text-2);
    font-size: var(--text-sm);
    font-weight: var(--weight-normal);
  }
  @media (max-width: 70rem) {
    .columns {
      grid-template-areas: 'work' 'gpus' 'events';
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;
