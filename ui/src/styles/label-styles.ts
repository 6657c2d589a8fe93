import { css } from 'lit';

/** A label of a node, or a runner that it has. */
export const labelStyles = css`
  .label {
    padding: 1px var(--space-2);
    border-radius: var(--radius-sm);
    background: var(--color-neutral-soft);
    color: var(--color-text-2);
    font-family: var(--font-mono);
    overflow-wrap: anywhere;
  }
`;
