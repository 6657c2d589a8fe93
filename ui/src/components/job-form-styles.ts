import { css } from 'lit';

export const jobFormStyles = css`
  form {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(20rem, 26rem);
    gap: var(--space-4);
    align-items: start;
  }
  .fields {
    display: grid;
    gap: var(--space-4);
    min-width: 0;
  }
  .panel {
    display: grid;
    gap: var(--space-4);
    padding: var(--space-4);
  }
  .end {
    position: sticky;
    top: var(--space-4);
    min-width: 0;
  }
  .columns {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr));
    gap: var(--space-4);
  }
  .over {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    justify-content: space-between;
    gap: var(--space-1) var(--space-3);
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
    --control-height: 1.75rem;
  }
  .device {
    display: flex;
    gap: var(--space-2);
  }
  .count {
    width: 5rem;
  }
  .words code {
    padding: 0 0.25rem;
    border-radius: var(--radius-sm);
    background: var(--color-neutral-soft);
    color: var(--color-text);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .words {
    line-height: 1.7;
  }
  .doubt {
    color: var(--color-warning);
    font-size: var(--text-xs);
    overflow-wrap: anywhere;
  }
  .kept {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2);
    font-size: var(--text-sm);
    --control-height: 1.75rem;
  }
  .problem {
    display: grid;
    gap: var(--space-1);
    padding: var(--space-2) var(--space-3);
    border-radius: var(--radius-md);
    background: var(--color-danger-soft);
    color: var(--color-danger);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  kbd {
    padding: 0 0.25rem;
    border: 1px solid var(--color-line-strong);
    border-radius: var(--radius-sm);
    font: inherit;
  }
  @media (max-width: 75rem) {
    form {
      grid-template-columns: minmax(0, 1fr);
    }
    .end {
      position: static;
    }
  }
  @media (pointer: coarse) {
    .over {
      --control-height: 2.5rem;
    }
  }
`;
