import { css } from 'lit';

/** Of the drawings of config against a metric. */
export const drawingStyles = css`
  svg {
    display: block;
    overflow: visible;
    font-size: 0.6875rem;
    font-variant-numeric: tabular-nums;
  }
  text {
    fill: var(--color-text-3);
  }
  .title {
    fill: var(--color-text-2);
    font-size: 0.75rem;
    font-weight: var(--weight-medium);
  }
  .title.metric {
    fill: var(--color-text);
    font-weight: var(--weight-strong);
  }
  .axis {
    stroke: var(--color-line-strong);
    stroke-width: 1;
  }
  .grid {
    stroke: var(--chart-grid);
    stroke-width: 1;
  }
  /* What stands under a label stays legible. */
  .label {
    paint-order: stroke;
    stroke: var(--color-surface);
    stroke-width: 3px;
    stroke-linejoin: round;
  }
`;
