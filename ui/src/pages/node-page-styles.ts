import { css } from 'lit';

export const nodePageStyles = css`
  .about,
  section {
    margin-bottom: var(--space-4);
  }
  .about .facts {
    padding: var(--space-4);
    font-variant-numeric: tabular-nums;
  }
  .facts .wide {
    grid-column: span 2;
  }
  .labels {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-1) var(--space-2);
    padding: var(--space-3) var(--space-4);
    border-top: 1px solid var(--color-line);
    font-size: var(--text-xs);
  }
  .problem {
    color: var(--color-warning);
    font-size: var(--text-xs);
    overflow-wrap: anywhere;
  }
  .charts-head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-4);
    margin: var(--space-6) 0 var(--space-3);
  }
  .charts-head svc-filters {
    margin-bottom: calc(-1 * var(--space-3));
  }
  .charts {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr));
    gap: var(--space-4);
  }
  .charts svc-node-chart {
    height: 100%;
    min-height: 15rem;
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
    gap: var(--space-4);
    align-items: start;
  }
  .column {
    min-width: 0;
  }
  .empty {
    padding: var(--space-4);
    color: var(--color-text-2);
    font-size: var(--text-sm);
  }
  .jobs li {
    display: grid;
    grid-template-columns: 6.5rem minmax(5.5rem, 2fr) minmax(min-content, 1fr) 4rem;
    align-items: center;
    gap: var(--space-3);
    min-height: 2.375rem;
    padding: 0 var(--space-4);
    border-top: 1px solid var(--color-line);
    font-size: var(--text-sm);
  }
  .jobs li:first-child {
    border-top: 0;
  }
  .jobs svc-time {
    text-align: right;
  }
  @media (max-width: 70rem) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;
