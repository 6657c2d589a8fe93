import { css } from 'lit';

/** Fields of a form: a label, its control, a hint, and what is wrong with it. */
export const formStyles = css`
  .field {
    display: grid;
    align-content: start;
    gap: var(--space-1);
    min-width: 0;
  }
  .field > label,
  .field > .label {
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
  }
  .field .optional {
    color: var(--color-text-3);
    font-weight: var(--weight-normal);
  }
  .field > .input,
  .field > .select,
  .field > textarea {
    width: 100%;
  }
  textarea.input {
    height: auto;
    min-height: 2rem;
    padding-block: 0.375rem;
    font-family: var(--font-mono);
    line-height: 1.5;
    resize: vertical;
  }
  .input.code {
    font-family: var(--font-mono);
  }
  .hint {
    color: var(--color-text-2);
    font-size: var(--text-xs);
    overflow-wrap: anywhere;
  }
  .error {
    display: flex;
    gap: var(--space-1);
    color: var(--color-danger);
    font-size: var(--text-xs);
    overflow-wrap: anywhere;
  }
  .error .icon {
    margin-top: 0.15em;
  }
  [aria-invalid='true'] {
    border-color: var(--color-danger);
  }
  /* No password field: the browser would offer to keep what is typed. */
  .covered {
    -webkit-text-security: disc;
  }
`;
