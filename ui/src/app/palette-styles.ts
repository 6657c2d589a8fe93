import { css } from 'lit';

export const paletteStyles = css`
  :host {
    display: contents;
  }
  dialog {
    width: min(40rem, calc(100vw - 2rem));
    max-height: none;
    margin: 12vh auto auto;
    padding: 0;
    border: 0;
    border-radius: var(--radius-lg);
    background: var(--color-overlay);
    color: var(--color-text);
    box-shadow: var(--shadow-overlay);
    overflow: hidden;
  }
  dialog::backdrop {
    background: var(--color-backdrop);
  }
  .box {
    display: grid;
    grid-template-rows: auto minmax(0, 1fr) auto;
    max-height: min(34rem, 72dvh);
  }
  .field {
    display: flex;
    align-items: center;
    gap: var(--space-3);
    padding: var(--space-2) var(--space-3) var(--space-2) var(--space-4);
    border-bottom: 1px solid var(--color-line);
    color: var(--color-text-3);
  }
  input {
    flex: 1;
    min-width: 0;
    height: 2.25rem;
    border: 0;
    background: none;
    color: var(--color-text);
    font-size: var(--text-lg);
    outline: none;
  }
  input:focus-visible {
    outline: none;
  }
  input::placeholder {
    color: var(--color-text-3);
    opacity: 1;
  }
  .field:focus-within {
    box-shadow: inset 0 -2px 0 var(--color-focus);
  }
  .results {
    padding: 0 var(--space-2);
    overflow-y: auto;
    overscroll-behavior: contain;
  }
  .results:empty {
    min-height: 0;
  }
  .group {
    padding: var(--space-3) var(--space-2) var(--space-1);
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-weight: var(--weight-medium);
  }
  .entry {
    display: flex;
    align-items: center;
    gap: var(--space-3);
    min-height: 2.25rem;
    padding: 0 var(--space-2);
    border-radius: var(--radius-md);
    font-size: var(--text-sm);
    cursor: pointer;
  }
  .entry .icon {
    flex: none;
    color: var(--color-text-3);
  }
  .entry[aria-selected='true'] {
    background: var(--color-accent-soft);
    color: var(--color-accent);
  }
  .entry[aria-selected='true'] .icon,
  .entry[aria-selected='true'] .detail {
    color: inherit;
  }
  .label {
    flex: 1;
    min-width: 0;
  }
  .detail {
    flex: none;
    color: var(--color-text-3);
    font-size: var(--text-xs);
    white-space: nowrap;
  }
  .foot {
    padding: var(--space-2) var(--space-4);
    border-top: 1px solid var(--color-line);
    color: var(--color-text-2);
    font-size: var(--text-xs);
    overflow-wrap: anywhere;
  }
  .foot.bad {
    color: var(--color-danger);
  }
  @media (max-width: 56rem) {
    dialog {
      margin-top: var(--space-4);
    }
    .entry {
      min-height: 2.75rem;
    }
  }
`;
