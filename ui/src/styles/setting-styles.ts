import { css } from 'lit';

/** A setting: its name with a sentence, and its control. */
export const settingStyles = css`
  .setting {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: var(--space-2) var(--space-5);
    padding: var(--space-3) var(--space-4);
  }
  .setting > :first-child {
    min-width: 0;
  }
  .setting h3 {
    margin: 0;
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
  }
  .setting p {
    max-width: 40rem;
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .switch {
    flex: none;
    position: relative;
    width: 2.5rem;
    height: 1.5rem;
    padding: 0;
    border: 1px solid var(--color-line-control);
    border-radius: var(--radius-full);
    background: var(--color-sunken);
    cursor: pointer;
    transition: background var(--duration-fast);
  }
  .switch::before {
    content: '';
    position: absolute;
    top: 3px;
    left: 3px;
    width: 1rem;
    height: 1rem;
    border-radius: 50%;
    background: var(--color-line-control);
    transition: translate var(--duration-fast);
  }
  .switch[aria-checked='true'] {
    border-color: var(--color-accent);
    background: var(--color-accent);
  }
  .switch[aria-checked='true']::before {
    translate: 1rem;
    background: var(--color-on-accent);
  }
  @media (max-width: 40rem) {
    .setting.wide {
      flex-direction: column;
      align-items: flex-start;
    }
  }
`;
