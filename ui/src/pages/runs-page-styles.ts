import { css } from 'lit';

export const runsPageStyles = css`
  :host {
    max-width: none;
  }
  .search {
    width: 16rem;
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
  @media (max-width: 56rem) {
    .search {
      width: 100%;
    }
  }
  @media (pointer: coarse) {
    .order {
      --control-height: 2.25rem;
    }
  }
`;
