import { css } from 'lit';

export const runActionsStyles = css`
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
  :host {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-2);
  }
  details {
    position: relative;
  }
  summary {
    list-style: none;
  }
  summary::-webkit-details-marker {
    display: none;
  }
  ul {
    position: absolute;
    z-index: 6;
    top: calc(100% + 4px);
    right: 0;
    min-width: 11rem;
    padding: var(--space-1);
    border-radius: var(--radius-md);
    background: var(--color-overlay);
    box-shadow: var(--shadow-overlay);
  }
  li .button {
    justify-content: flex-start;
    width: 100%;
  }
  .form {
    display: grid;
    gap: var(--space-4);
    margin-top: var(--space-4);
  }
  .label {
    display: grid;
    gap: var(--space-1);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .label .input {
    color: var(--color-text);
  }
  textarea.input {
    height: auto;
    min-height: 7rem;
    padding-block: var(--space-2);
    line-height: var(--leading);
    resize: vertical;
  }
  fieldset {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-2) var(--space-5);
    margin: 0;
    padding: 0;
    border: 0;
    font-size: var(--text-sm);
  }
  legend {
    margin-bottom: var(--space-2);
    color: var(--color-text-2);
  }
  fieldset label {
    display: inline-flex;
    align-items: center;
    gap: var(--space-2);
    min-height: 1.75rem;
  }
  input[type='radio'] {
    accent-color: var(--color-accent);
  }
  @media (max-width: 40rem) {
    ul {
      right: auto;
      left: 0;
    }
  }
`;
