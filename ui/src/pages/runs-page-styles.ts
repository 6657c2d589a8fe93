import { css } from 'lit';

export const runsPageStyles = css`
  :host {
    max-width: none;
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
    max-width: 13rem;
    color: var(--color-text);
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
    flex: 1;
    min-width: 0;
    color: var(--color-text-2);
    font-size: var(--text-sm);
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
    .tools {
      flex-wrap: nowrap;
      margin-inline: calc(-1 * var(--space-4));
      padding: 2px var(--space-4);
      overflow-x: auto;
      scrollbar-width: none;
    }
    .tools > * {
      flex: none;
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
