import { css } from 'lit';

export const comparePageStyles = css`
  section.panel {
    margin-bottom: var(--space-4);
  }
  .lead {
    max-width: 44rem;
    margin-bottom: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .lead a {
    text-decoration: underline;
    text-underline-offset: 3px;
  }
  .link {
    display: inline-flex;
    align-items: center;
    gap: var(--space-1);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .picker {
    margin-bottom: var(--space-6);
  }
  .notes {
    display: grid;
    gap: var(--space-1);
    margin-bottom: var(--space-3);
    color: var(--color-warning);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .notes li {
    display: flex;
    align-items: baseline;
    gap: var(--space-2);
  }
`;
