import { css } from 'lit';

export const runFiltersStyles = css`
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
    min-height: var(--control-height);
    margin-bottom: var(--space-3);
    font-size: var(--text-sm);
    color: var(--color-text-2);
  }
  /* Whatever their choices are: nothing moves beside them. */
  .tools .select {
    width: 10rem;
    color: var(--color-text);
  }
  .tools .tag {
    width: 8rem;
  }
  .chosen {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    margin-left: auto;
  }
  .chip.active {
    max-width: 18rem;
  }
  .chip .truncate {
    min-width: 0;
  }
  @media (max-width: 56rem) {
    .tools {
      gap: var(--space-2);
    }
    .tools > .select,
    .tools > .button {
      flex: 1 1 40%;
      min-width: 0;
    }
    .chosen {
      margin-left: 0;
    }
  }
`;
