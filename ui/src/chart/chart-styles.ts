import { css } from 'lit';
import { unitStyles } from './unit.js';

export const chartStyles = css`
  ${unitStyles}
  :host {
    display: flex;
    flex-direction: column;
    position: relative;
    min-width: 0;
  }
  figure {
    flex: 1;
    display: flex;
    flex-direction: column;
  }
  figcaption {
    display: grid;
    grid-template-columns: minmax(0, 1fr) auto auto;
    align-items: center;
    gap: 0 var(--space-2);
    padding: var(--space-2) var(--space-2) 0 var(--space-4);
  }
  h3 {
    overflow: hidden;
    font-size: var(--text-sm);
    font-weight: var(--weight-strong);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  /* Where there is no tooltip: elsewhere the heading would wrap and move the plot under the pointer. */
  .step {
    display: none;
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  svc-chart-tools {
    grid-row: 1;
    grid-column: 3;
  }
  .legend {
    grid-column: 1 / -1;
    display: flex;
    flex-wrap: wrap;
    gap: 0 var(--space-1);
    min-width: 0;
    max-height: 4.5rem;
    margin-left: -0.375rem;
    overflow-y: auto;
  }
  .problem {
    padding: 0 var(--space-4);
    color: var(--color-danger);
    font-size: var(--text-xs);
  }
  .legend button {
    display: inline-flex;
    align-items: center;
    gap: 0.375rem;
    max-width: 100%;
    min-height: 1.5rem;
    padding: 0 0.375rem;
    border: 0;
    border-radius: var(--radius-sm);
    background: none;
    color: var(--color-text-2);
    font: inherit;
    font-size: var(--text-xs);
    cursor: pointer;
  }
  .legend .mark {
    color: var(--color-accent);
  }
  .legend .mark.warning,
  .note.warning {
    color: var(--color-warning);
  }
  .legend .mark.critical,
  .note.critical {
    color: var(--color-danger);
  }
  .legend .count,
  .legend .more,
  .legend .best {
    color: var(--color-text-3);
    font-size: var(--text-xs);
    font-variant-numeric: tabular-nums;
  }
  .legend .count {
    padding: 0 0.375rem;
  }
  .note {
    max-width: 16rem;
    padding-top: 2px;
    overflow-wrap: anywhere;
  }
  /* Inside: the legend scrolls, and would cut a ring around a button. */
  .legend button:focus-visible {
    outline-offset: -2px;
  }
  .legend button:hover {
    background: var(--color-hover);
  }
  .legend button[aria-pressed='false'] {
    color: var(--color-text-3);
    text-decoration: line-through;
  }
  .legend .label {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .legend .swatch,
  .legend .value {
    flex: none;
  }
  .legend .value {
    min-width: 3.25rem;
    color: var(--color-text);
    font-weight: var(--weight-medium);
    font-variant-numeric: tabular-nums;
  }
  .swatch {
    width: 0.75rem;
    height: 0.1875rem;
    border-radius: var(--radius-full);
    background: var(--swatch);
  }
  button[aria-pressed='false'] .swatch {
    opacity: 0.35;
  }
  .odd {
    flex: none;
    color: var(--color-danger);
    white-space: nowrap;
    font-weight: var(--weight-medium);
  }
  .plot {
    position: relative;
    flex: 1;
    min-height: 9rem;
    padding: 0 0 var(--space-1) var(--space-2);
    touch-action: pan-y;
  }
  .plot:focus-visible {
    outline-offset: -2px;
  }
  dialog {
    flex-direction: column;
    width: min(90rem, 96vw);
    max-width: none;
    height: min(54rem, 92vh);
    max-height: none;
    padding: var(--space-2);
    border: 0;
    border-radius: var(--radius-lg);
    background: var(--color-surface);
    color: var(--color-text);
    box-shadow: var(--shadow-overlay);
  }
  dialog[open] {
    display: flex;
  }
  dialog::backdrop {
    background: var(--color-backdrop);
  }
  dialog h3 {
    font-size: var(--text-lg);
    overflow-wrap: anywhere;
    white-space: normal;
  }
  .empty {
    position: absolute;
    inset: 0;
    display: grid;
    place-content: center;
    color: var(--color-text-3);
    font-size: var(--text-sm);
  }
  .tooltip {
    position: absolute;
    z-index: 3;
    top: var(--space-2);
    min-width: 8rem;
    padding: var(--space-2) var(--space-3);
    border-radius: var(--radius-md);
    background: var(--color-overlay);
    box-shadow: var(--shadow-overlay);
    font-size: var(--text-xs);
    pointer-events: none;
  }
  .tooltip table {
    width: 100%;
    border-spacing: 0;
  }
  .tooltip caption {
    padding-bottom: 2px;
    color: var(--color-text-3);
    text-align: left;
    white-space: nowrap;
  }
  .tooltip th {
    max-width: 9rem;
    padding: 0 var(--space-3) 0 0;
    overflow: hidden;
    color: var(--color-text-2);
    font-weight: var(--weight-normal);
    text-align: left;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .tooltip .swatch {
    display: inline-block;
    margin-right: 0.375rem;
    vertical-align: middle;
  }
  .tooltip td {
    font-weight: var(--weight-medium);
    text-align: right;
    white-space: nowrap;
  }
  .at {
    color: var(--color-text-3);
    font-weight: var(--weight-normal);
  }

  /* No room for it beside a finger; heading and legend say the same. */
  @media (max-width: 40rem) {
    .tooltip {
      display: none;
    }
    .step {
      display: inline;
    }
  }

  /* uPlot's own layout. */
  .uplot {
    position: absolute;
    width: min-content;
  }
  .u-wrap {
    position: relative;
    user-select: none;
  }
  .u-over,
  .u-under {
    position: absolute;
  }
  .u-under {
    overflow: hidden;
  }
  .uplot canvas {
    display: block;
    position: relative;
    width: 100%;
    height: 100%;
  }
  .u-axis {
    position: absolute;
  }
  .u-select {
    position: absolute;
    background: color-mix(in srgb, var(--color-accent) 16%, transparent);
    pointer-events: none;
  }
  .u-cursor-x {
    position: absolute;
    top: 0;
    left: 0;
    height: 100%;
    border-right: 1px solid var(--color-line-strong);
    pointer-events: none;
    will-change: transform;
  }
  .u-cursor-pt {
    position: absolute;
    top: 0;
    left: 0;
    border: 0 solid;
    border-radius: 50%;
    background-clip: padding-box !important;
    pointer-events: none;
    will-change: transform;
  }
  .u-off {
    display: none;
  }
`;
