import { css } from 'lit';

export const runsPageStyles = css`
  :host {
    max-width: none;
  }
  .places {
    display: flex;
    gap: var(--space-2);
    margin-left: auto;
  }
  .places .select {
    max-width: 14rem;
  }
  .search {
    width: 16rem;
    margin-left: auto;
  }
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
  .tools .select {
    max-width: 16rem;
  }
  .chosen {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    margin-left: auto;
  }
  .order {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-1) var(--space-2);
    min-width: 0;
    overflow-wrap: anywhere;
    --control-height: 1.75rem;
  }
  .chip.active {
    max-width: 18rem;
  }
  .chip .truncate {
    min-width: 0;
  }
  @media (max-width: 56rem) {
    .places {
      margin-left: 0;
    }
    .search {
      width: 100%;
    }
    .chosen {
      margin-left: 0;
    }
  }
  @media (pointer: coarse) {
    .order {
      --control-height: 2.25rem;
    }
  }
`;
