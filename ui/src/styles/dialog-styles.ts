import { css } from 'lit';

/** A form in a dialog over the page. */
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
  dialog p {
    margin-top: var(--space-2);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  dialog .problem {
    color: var(--color-danger);
    overflow-wrap: anywhere;
  }
  dialog .buttons {
    display: flex;
    justify-content: flex-end;
    gap: var(--space-2);
    margin-top: var(--space-5);
  }
`;
