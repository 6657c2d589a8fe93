import { css } from 'lit';

/** Of the pages of a project and of an experiment. */
export const placePageStyles = css`
  .description {
    max-width: 48rem;
    margin-bottom: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    white-space: pre-line;
    overflow-wrap: anywhere;
  }
  .section-head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
    min-height: var(--control-height);
    margin: var(--space-6) 0 var(--space-3);
  }
  .section-head .button {
    margin-left: auto;
  }
  .section-head .button ~ .button {
    margin-left: 0;
  }
  .section-head p {
    color: var(--color-text-2);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .section-head p a {
    text-decoration: underline;
    text-underline-offset: 3px;
  }
  .cards {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr));
    gap: var(--space-4);
  }
  .cards .panel-head {
    border-bottom: 1px solid var(--color-line);
  }
  .fact {
    padding: var(--space-3) var(--space-4);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .fact a {
    font-weight: var(--weight-strong);
  }
  .fact p {
    color: var(--color-text-2);
  }
`;
