import { css } from 'lit';

/** What every element starts from: box model, focus ring, links, hidden text. */
export const baseStyles = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  :host {
    display: block;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  h1,
  h2,
  h3,
  p,
  dl,
  dd,
  ul,
  ol,
  figure {
    margin: 0;
    padding: 0;
  }
  ul,
  ol {
    list-style: none;
  }
  h1 {
    font-size: var(--text-xl);
    font-weight: var(--weight-strong);
    line-height: var(--leading-tight);
    letter-spacing: -0.015em;
    overflow-wrap: anywhere;
  }
  h2 {
    font-size: var(--text-md);
    font-weight: var(--weight-strong);
    line-height: var(--leading-tight);
  }
  /* A name in another writing direction does not move what stands beside it. */
  a,
  b,
  bdi,
  button,
  code,
  span,
  strong {
    unicode-bidi: isolate;
  }
  a {
    color: var(--color-accent);
    text-decoration: none;
  }
  a:hover {
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  :focus-visible {
    outline: 2px solid var(--color-focus);
    outline-offset: 2px;
    border-radius: var(--radius-sm);
  }
  code {
    font-family: var(--font-mono);
    font-size: 0.93em;
  }
  .quiet {
    color: var(--color-text-3);
  }
  .truncate {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;

/** Buttons, inputs and segmented controls. */
export const controlStyles = css`
  button,
  input,
  select {
    font: inherit;
    color: inherit;
    letter-spacing: inherit;
  }
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: var(--space-2);
    height: var(--control-height);
    padding: 0 var(--space-3);
    border: 1px solid var(--color-line-strong);
    border-radius: var(--radius-md);
    background: var(--color-surface);
    color: var(--color-text);
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
    white-space: nowrap;
    text-decoration: none;
    cursor: pointer;
    transition: background var(--duration-fast);
  }
  .button:hover {
    background: var(--color-hover);
    text-decoration: none;
  }
  .button:disabled {
    color: var(--color-text-3);
    cursor: default;
    background: var(--color-sunken);
  }
  .button.primary {
    border-color: transparent;
    background: var(--color-accent);
    color: var(--color-on-accent);
    /* Another theme changes the text at once: with a background that follows it could not be read meanwhile. */
    transition: none;
  }
  .button.primary:disabled {
    border-color: var(--color-line);
    background: var(--color-sunken);
    color: var(--color-text-3);
  }
  .button.primary:not(:disabled):hover {
    background: var(--color-accent-hover);
  }
  .button.danger {
    border-color: transparent;
    background: var(--color-danger-solid);
    color: var(--color-on-danger);
  }
  .button.plain {
    border-color: transparent;
    background: none;
    color: var(--color-text-2);
  }
  .button.plain:hover {
    background: var(--color-hover);
    color: var(--color-text);
  }
  .button.icon {
    flex: none;
    width: var(--control-height);
    padding: 0;
  }
  .button[aria-pressed='true'] {
    border-color: var(--color-accent);
    background: var(--color-accent-soft);
    color: var(--color-accent);
  }
  .input,
  .select {
    height: var(--control-height);
    padding: 0 var(--space-3);
    border: 1px solid var(--color-line-control);
    border-radius: var(--radius-md);
    background: var(--color-surface);
    font-size: var(--text-sm);
    min-width: 0;
  }
  .input::placeholder {
    color: var(--color-text-3);
    opacity: 1;
  }
  .select {
    appearance: none;
    padding-right: var(--space-8);
    background-image:
      linear-gradient(45deg, transparent 50%, var(--color-text-3) 50%),
      linear-gradient(-45deg, transparent 50%, var(--color-text-3) 50%);
    background-position:
      right 15px center,
      right 10px center;
    background-size: 5px 5px;
    background-repeat: no-repeat;
    text-overflow: ellipsis;
    cursor: pointer;
  }
  .select option {
    background: var(--color-overlay);
    color: var(--color-text);
  }
  .segmented {
    display: inline-flex;
    padding: 2px;
    gap: 2px;
    border-radius: var(--radius-md);
    background: var(--color-neutral-soft);
  }
  .segmented button {
    height: calc(var(--control-height) - 4px);
    padding: 0 var(--space-3);
    border: 0;
    border-radius: var(--radius-sm);
    background: none;
    color: var(--color-text-2);
    font-size: var(--text-sm);
    font-weight: var(--weight-medium);
    white-space: nowrap;
    cursor: pointer;
  }
  .segmented button:hover {
    color: var(--color-text);
  }
  .segmented button[aria-pressed='true'] {
    background: var(--color-surface);
    color: var(--color-text);
    box-shadow: 0 0 0 1px var(--color-line-strong);
  }
  @media (pointer: coarse) {
    :host {
      --control-height: 2.5rem;
    }
    .input,
    .select {
      font-size: 1rem;
    }
  }
`;

const pageFrameStyles = css`
  :host {
    padding: var(--space-6) var(--space-8) var(--space-12);
    max-width: var(--page-max);
  }
  .page-head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
    min-height: 2.25rem;
    margin-bottom: var(--space-4);
  }
  .page-head .summary {
    color: var(--color-text-2);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .page-head .id {
    display: inline-flex;
    align-items: center;
    min-width: 0;
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .page-head .id code {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .page-head .actions {
    display: flex;
    gap: var(--space-2);
    margin-left: auto;
  }
  .crumb {
    display: inline-flex;
    align-items: center;
    gap: var(--space-1);
    max-width: 100%;
    margin-bottom: var(--space-2);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .crumb .icon {
    flex: none;
  }
  @media (max-width: 56rem) {
    :host {
      padding: var(--space-4) var(--space-4) var(--space-8);
    }
  }
`;

/** Panels and definition lists, of a page or a part of it. */
export const panelStyles = css`
  .panel {
    border: 1px solid var(--color-line);
    border-radius: var(--radius-lg);
    background: var(--color-surface);
    min-width: 0;
  }
  .panel-head {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    min-height: 2.75rem;
    padding: var(--space-2) var(--space-4);
    border-bottom: 1px solid var(--color-line);
  }
  .facts {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr));
    gap: var(--space-3) var(--space-5);
  }
  .facts dt {
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .facts dd {
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  .facts a {
    text-decoration: underline;
    text-decoration-color: color-mix(in srgb, currentColor 35%, transparent);
    text-underline-offset: 3px;
  }
`;

/** A page: its frame with title and actions, and panels in it. */
export const pageStyles = [pageFrameStyles, panelStyles];
