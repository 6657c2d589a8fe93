import { css } from 'lit';

/** A modal dialog over the page. */
export const dialogStyles = css`
  dialog {
    width: min(34rem, calc(100vw - 2rem));
    max-height: calc(100dvh - 2rem);
    padding: var(--space-5);
    border: 0;
    border-radius: var(--radius-lg);
    background: var(--color-overlay);
    color: var(--color-text);
    box-shadow: var(--shadow-overlay);
    overflow: auto;
  }
  dialog::backdrop {
    background: var(--color-backdrop);
  }
  dialog h2 {
    font-size: var(--text-lg);
    overflow-wrap: anywhere;
  }
`;

/** The form of an element that is a dialog alone. */
export const dialogFormStyles = css`
  :host {
    display: contents;
  }
  form {
    display: grid;
    gap: var(--space-4);
  }
  label {
    display: grid;
    gap: var(--space-1);
    min-width: 0;
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
  }
  .optional,
  .hint {
    color: var(--color-text-2);
    font-size: var(--text-xs);
    font-weight: var(--weight-normal);
  }
  .optional {
    display: inline;
  }
  label .input {
    width: 100%;
    font-weight: var(--weight-normal);
  }
  textarea.input {
    height: auto;
    padding-block: 0.375rem;
    line-height: 1.5;
    resize: vertical;
  }
  .code {
    font-family: var(--font-mono);
  }
  .error {
    display: flex;
    gap: var(--space-2);
    padding: var(--space-2) var(--space-3);
    border-radius: var(--radius-md);
    background: var(--color-danger-soft);
    color: var(--color-danger);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .error .icon {
    margin-top: 0.2em;
  }
  .actions {
    display: flex;
    justify-content: flex-end;
    gap: var(--space-2);
  }
`;
