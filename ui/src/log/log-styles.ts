import { css, unsafeCSS } from 'lit';

const PALETTE = Array.from({ length: 16 }, (_, color) => `.c${color} { color: var(--ansi-${color}); }`).join(
  '\n',
);

export const logStyles = css`
  :host {
    display: grid;
    min-height: 0;
    --line: 1.25rem;
  }
  .whole {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2);
    padding: var(--space-2) var(--space-3);
    border-bottom: 1px solid var(--color-line);
  }
  .search {
    position: relative;
    display: flex;
    align-items: center;
    flex: 1 1 14rem;
    max-width: 26rem;
  }
  .search > .icon {
    position: absolute;
    left: 0.625rem;
    color: var(--color-text-3);
    pointer-events: none;
  }
  .search .input {
    width: 100%;
    padding-left: 2rem;
  }
  .search.asked .input {
    padding-right: 11.5rem;
  }
  .search .found {
    position: absolute;
    right: 2px;
    display: flex;
    align-items: center;
    font-size: var(--text-xs);
    color: var(--color-text-3);
    --control-height: 1.75rem;
  }
  .spacer {
    flex: 1;
  }
  .places,
  .switches {
    display: flex;
    gap: var(--space-1);
  }
  .places .button:not(.icon) {
    gap: var(--space-1);
    padding: 0 var(--space-2);
  }
  .number {
    width: 5rem;
  }
  .notes {
    display: flex;
    flex-wrap: wrap;
    gap: 0 var(--space-4);
    padding: 0.375rem var(--space-4);
    border-bottom: 1px solid var(--color-line);
    color: var(--color-text-2);
    font-size: var(--text-xs);
  }
  .notes .bad {
    color: var(--color-warning);
  }
  .notes button {
    padding: 0;
    border: 0;
    background: none;
    color: var(--color-accent);
    cursor: pointer;
  }
  .frame {
    position: relative;
    flex: 1;
    min-height: 0;
    overflow: hidden;
    background: var(--color-log);
    border-radius: 0 0 var(--radius-lg) var(--radius-lg);
  }
  .scroll {
    position: absolute;
    inset: 0;
    overflow: auto;
    overflow-anchor: none;
    overscroll-behavior: contain;
    border-radius: inherit;
  }
  .scroll,
  .probe {
    font-family: var(--font-mono);
    font-size: var(--text-xs);
    line-height: var(--line);
  }
  .scroll:focus-visible {
    outline-offset: -2px;
    border-radius: inherit;
  }
  .sizer {
    position: relative;
    min-width: 100%;
    padding-block: var(--space-2);
    box-sizing: content-box;
  }
  /* What is laid over the end covers no line there. */
  .marked .sizer {
    padding-bottom: 3.5rem;
  }
  .window {
    will-change: transform;
  }
  .partials {
    position: absolute;
    inset: var(--space-2) 0 auto;
  }
  /* Plain inline boxes and no clip of its own: a row costs little, however fast the rows change. */
  .row {
    height: var(--line);
    contain: size layout style;
    padding-right: var(--space-4);
    border-left: 2px solid transparent;
    white-space: pre;
  }
  .row.error {
    border-left-color: var(--color-warning);
  }
  .row:hover {
    background: var(--color-hover);
  }
  .row.current {
    background: var(--color-accent-soft);
  }
  .wrapped .row {
    display: flex;
    overflow: hidden;
  }
  .gutter {
    display: inline-block;
    flex: none;
    padding: 0 var(--space-3) 0 var(--space-3);
    color: var(--color-text-3);
    user-select: none;
  }
  .text {
    tab-size: 8;
  }
  .wrapped .text {
    width: var(--text-width);
    white-space: break-spaces;
    line-break: anywhere;
    overflow-wrap: anywhere;
  }
  .row.current .gutter {
    color: var(--color-text);
  }
  .unread .text {
    color: var(--color-text-3);
  }
  .missing {
    background: var(--color-warning-soft);
    color: var(--color-warning);
    white-space: pre;
  }
  .missing .gutter {
    color: inherit;
  }
  .all {
    display: inline-block;
    height: var(--line);
    padding: 0 var(--space-1);
    border: 0;
    background: none;
    color: var(--color-accent);
    line-height: inherit;
    white-space: nowrap;
    vertical-align: top;
    cursor: pointer;
  }
  .all:hover {
    text-decoration: underline;
  }
  .wrapped .all {
    display: block;
  }
  mark {
    border-radius: 2px;
    background: var(--color-mark);
    color: var(--color-text);
  }
  .row.current mark {
    background: var(--color-mark-current);
    color: var(--color-on-mark, #161a21);
  }
  .bold {
    font-weight: 700;
  }
  .dim {
    opacity: 0.75;
  }
  .italic {
    font-style: italic;
  }
  .underlined {
    text-decoration: underline;
  }
  ${unsafeCSS(PALETTE)}
  .line {
    display: flex;
    align-items: center;
    gap: var(--space-1);
    height: var(--control-height);
    padding: 0 var(--space-1) 0 var(--space-3);
    border-radius: var(--radius-md);
    background: var(--color-overlay);
    box-shadow: var(--shadow-overlay);
    color: var(--color-text-2);
    font-size: var(--text-xs);
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }
  .overlay {
    position: absolute;
    inset: auto var(--space-4) var(--space-4) var(--space-3);
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-2);
    pointer-events: none;
  }
  .overlay > * {
    pointer-events: auto;
  }
  .newest {
    margin-left: auto;
    box-shadow: var(--shadow-overlay);
    border-color: transparent;
    background: var(--color-overlay);
  }
  .empty {
    position: absolute;
    inset: 0;
    padding: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .probe {
    position: absolute;
    visibility: hidden;
    white-space: pre;
  }
  @media (max-width: 56rem) {
    :host {
      scroll-margin-block: 4rem 5rem;
    }
    .spacer {
      display: none;
    }
    .tools .segmented button {
      padding: 0 var(--space-2);
    }
    .switches {
      order: 1;
      margin-left: auto;
    }
    .places,
    .tools .select {
      order: 2;
    }
    .search {
      flex-basis: 100%;
      min-width: 0;
      max-width: none;
      order: 3;
    }
  }
  @media (max-width: 56rem) and (max-height: 30rem) {
    .search {
      flex-basis: 12rem;
      order: 0;
    }
  }
`;
