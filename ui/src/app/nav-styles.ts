import { css } from 'lit';

export const navStyles = css`
  :host {
    position: sticky;
    top: 0;
    display: flex;
    flex-direction: column;
    gap: var(--space-4);
    height: 100dvh;
    padding: var(--space-4) var(--space-3);
    border-right: 1px solid var(--color-line);
    background: var(--color-surface);
    overflow-y: auto;
  }
  .skip {
    position: fixed;
    z-index: 20;
    top: var(--space-2);
    left: var(--space-2);
  }
  .skip:not(:focus) {
    clip-path: inset(50%);
  }
  .brand {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    padding: var(--space-1) var(--space-2);
    color: var(--color-text);
    font-size: var(--text-lg);
    font-weight: var(--weight-strong);
    letter-spacing: -0.02em;
  }
  .brand:hover {
    text-decoration: none;
  }
  .find {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    height: 2rem;
    padding: 0 var(--space-2);
    border: 1px solid var(--color-line-control);
    border-radius: var(--radius-md);
    background: var(--color-surface);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    cursor: pointer;
  }
  .find:hover {
    background: var(--color-hover);
    color: var(--color-text);
  }
  .find span {
    flex: 1;
    text-align: left;
  }
  .find kbd {
    color: var(--color-text-3);
    font-family: inherit;
    font-size: var(--text-xs);
  }
  nav {
    flex: 1;
    display: grid;
  }
  nav ul {
    display: flex;
    flex-direction: column;
    gap: 2px;
  }
  nav li.last {
    order: 1;
  }
  nav li:not(.last) + li.last {
    margin-top: auto;
  }
  nav .more {
    display: none;
  }
  nav a {
    display: flex;
    align-items: center;
    gap: 0.625rem;
    height: 2.125rem;
    padding: 0 var(--space-2);
    border-radius: var(--radius-md);
    color: var(--color-text-2);
    font-weight: var(--weight-medium);
  }
  nav a:hover {
    background: var(--color-hover);
    color: var(--color-text);
    text-decoration: none;
  }
  nav a[aria-current='page'] {
    background: var(--color-neutral-soft);
    color: var(--color-text);
  }
  nav a[aria-current='page'] .icon {
    color: var(--color-accent);
  }
  .foot {
    display: grid;
    gap: var(--space-3);
    font-size: var(--text-sm);
  }
  .connection {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    padding: 0 var(--space-2);
    color: var(--color-text-2);
  }
  .connection.good {
    color: var(--color-success);
  }
  .connection.bad {
    color: var(--color-danger);
  }
  .themes {
    display: flex;
    margin: 0 var(--space-1);
    --control-height: 1.75rem;
  }
  .themes button {
    flex: 1;
    display: grid;
    place-items: center;
    padding: 0;
  }
  .who {
    display: flex;
    align-items: center;
    gap: var(--space-1);
    padding: var(--space-3) 0 0 var(--space-2);
    border-top: 1px solid var(--color-line);
  }
  .who p {
    flex: 1;
    display: grid;
    min-width: 0;
    line-height: 1.35;
  }
  .who p > :first-child {
    font-weight: var(--weight-medium);
  }
  .scope {
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }

  @media (max-width: 56rem) {
    :host {
      z-index: 10;
      flex-direction: row;
      align-items: center;
      gap: var(--space-2);
      height: auto;
      padding: var(--space-2) var(--space-4);
      padding-top: max(var(--space-2), env(safe-area-inset-top));
      border-right: 0;
      border-bottom: 1px solid var(--color-line);
      overflow: visible;
    }
    .brand {
      padding-left: 0;
    }
    .foot {
      display: flex;
      align-items: center;
      gap: var(--space-2);
      margin-left: auto;
    }
    .connection span {
      font-size: var(--text-xs);
    }
    .themes {
      margin: 0;
    }
    .themes button {
      width: 2rem;
    }
    .who {
      padding: 0;
      border: 0;
    }
    .who p {
      display: none;
    }
    nav {
      position: fixed;
      z-index: 10;
      right: 0;
      bottom: 0;
      left: 0;
      padding: var(--space-1) var(--space-2) env(safe-area-inset-bottom);
      border-top: 1px solid var(--color-line);
      background: var(--color-surface);
      grid-template-columns: minmax(0, 4fr) minmax(0, 1fr);
    }
    nav ul {
      display: grid;
      grid-template-columns: repeat(4, minmax(0, 1fr));
    }
    nav li:not(.quick) {
      display: none;
    }
    nav.open {
      box-shadow: var(--shadow-overlay);
    }
    nav.open li:not(.quick) {
      display: block;
      order: 0;
      margin: 0;
    }
    nav.open li.quick {
      order: 1;
    }
    nav.open li.quick:first-child {
      grid-column-start: 1;
    }
    nav .more {
      display: flex;
      align-self: end;
      align-items: center;
      border: 0;
      background: none;
      color: var(--color-text-2);
      font-weight: var(--weight-medium);
      cursor: pointer;
    }
    nav .more.current,
    nav .more[aria-expanded='true'] {
      color: var(--color-accent);
    }
    .find {
      width: 2rem;
      padding: 0;
      justify-content: center;
    }
    .find kbd {
      display: none;
    }
    .find span {
      position: absolute;
      clip-path: inset(50%);
    }
    nav .more,
    nav a {
      flex-direction: column;
      justify-content: center;
      gap: 2px;
      height: 3.25rem;
      font-size: var(--text-xs);
    }
    nav a[aria-current='page'] {
      background: none;
      color: var(--color-accent);
    }
  }
`;
