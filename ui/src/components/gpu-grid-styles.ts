import { css } from 'lit';

export const gpuGridStyles = css`
  :host {
    position: relative;
    padding: var(--space-3) var(--space-4) var(--space-4);
  }
  .counts {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-1) var(--space-4);
    margin-bottom: var(--space-3);
    color: var(--color-text-2);
    font-size: var(--text-xs);
  }
  .key {
    margin-bottom: var(--space-3);
    color: var(--color-text-3);
    font-size: var(--text-xs);
  }
  .counts b {
    color: var(--color-text);
    font-weight: var(--weight-strong);
  }
  .counts .icon {
    margin-right: 0.25rem;
  }
  .counts .busy .icon {
    color: var(--color-accent);
  }
  .counts .foreign .icon,
  .counts .quarantined .icon,
  .counts .draining .icon {
    color: var(--color-warning);
  }
  .counts .unhealthy .icon,
  .counts .offline .icon {
    color: var(--color-danger);
  }
  .nodes {
    display: flex;
    flex-wrap: wrap;
    gap: var(--space-4) var(--space-6);
  }
  /* As wide as its slots side by side, as far as there is room. */
  .nodes:not(.dense) .node {
    width: min(100%, var(--slots) * 9rem);
  }
  .nodes.dense {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr));
    gap: var(--space-3) var(--space-5);
  }
  .node {
    min-width: 0;
  }
  .name {
    display: flex;
    align-items: center;
    gap: var(--space-2);
    min-height: 1.5rem;
    margin-bottom: 2px;
    font-size: var(--text-xs);
  }
  .name a {
    min-width: 0;
    color: var(--color-text-2);
    font-weight: var(--weight-medium);
  }
  .status {
    flex: none;
    color: var(--color-warning);
  }
  .status.OFFLINE {
    color: var(--color-danger);
  }
  .slots {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(6.5rem, 100%), 1fr));
    gap: var(--space-2);
  }
  .dense .slots {
    grid-template-columns: repeat(8, minmax(0, 1fr));
    gap: 3px;
  }
  .cell {
    min-width: 0;
  }
  .look {
    display: grid;
    align-content: space-between;
    gap: 2px;
    height: 100%;
    min-width: 0;
  }
  .slot {
    position: relative;
    display: block;
    height: 100%;
    min-width: 0;
    padding: var(--space-2);
    border: 1px solid transparent;
    border-radius: var(--radius-md);
    background: var(--color-neutral-soft);
    color: var(--color-text-2);
    font-size: var(--text-xs);
  }
  .slot:hover {
    border-color: var(--color-line-control);
    text-decoration: none;
  }
  .slot.busy {
    background: var(--color-accent-soft);
    color: var(--color-text);
  }
  .slot.free,
  .slot.draining,
  .slot.offline {
    border: 1px dashed var(--color-line-strong);
    background: none;
  }
  .slot.free:hover,
  .slot.draining:hover,
  .slot.offline:hover {
    border-color: var(--color-line-control);
  }
  .slot.foreign,
  .slot.quarantined {
    border-color: var(--color-warning);
    background: var(--color-warning-soft);
  }
  .slot.unhealthy {
    border-color: var(--color-danger);
    background: var(--color-danger-soft);
  }
  .foreign .state,
  .quarantined .state,
  .state.foreign,
  .state.quarantined,
  .foreign .figure,
  .quarantined .figure,
  .draining .figure {
    color: var(--color-warning);
  }
  .unhealthy .state,
  .state.unhealthy,
  .state.offline,
  .unhealthy .figure,
  .offline .figure {
    color: var(--color-danger);
  }
  .dense .slot {
    height: 2.125rem;
    padding: 3px 4px 4px;
    border-radius: var(--radius-sm);
  }
  .figure {
    display: grid;
    place-items: center;
    height: 1.125rem;
    font-size: 0.6875rem;
    font-weight: var(--weight-medium);
    font-variant-numeric: tabular-nums;
    line-height: 1;
  }
  .line {
    display: flex;
    align-items: baseline;
    justify-content: space-between;
    gap: var(--space-2);
    min-width: 0;
  }
  .line b {
    min-width: 0;
    font-weight: var(--weight-strong);
  }
  .line .state {
    flex: none;
  }
  .job {
    color: var(--color-text);
    font-weight: var(--weight-medium);
  }
  .slot .job {
    display: block;
    min-height: 1.5em;
  }
  .figures {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 0 var(--space-2);
    min-height: 1.5em;
    font-size: 0.6875rem;
    font-variant-numeric: tabular-nums;
  }
  .bars {
    display: grid;
    gap: 2px;
  }
  .bar {
    height: 3px;
    border-radius: 2px;
    background: color-mix(in srgb, var(--color-text-3) 22%, transparent);
    overflow: hidden;
  }
  .bar span {
    display: block;
    height: 100%;
    border-radius: 2px;
    background: var(--color-accent);
  }
  .bar.memory span {
    background: var(--chart-3);
  }
  .bar.unknown,
  .offline .bars {
    visibility: hidden;
  }
  .troubles {
    display: grid;
    gap: var(--space-1);
    margin-top: var(--space-4);
    font-size: var(--text-sm);
  }
  .troubles li {
    display: flex;
    flex-wrap: wrap;
    gap: 0 var(--space-3);
    overflow-wrap: anywhere;
  }
  .troubles .reason {
    color: var(--color-text-2);
  }
  .tip {
    position: absolute;
    z-index: 5;
    display: grid;
    gap: 2px;
    padding: var(--space-2) var(--space-3);
    border-radius: var(--radius-md);
    background: var(--color-overlay);
    box-shadow: var(--shadow-overlay);
    color: var(--color-text-2);
    font-size: var(--text-xs);
    pointer-events: none;
  }
  .tip b {
    color: var(--color-text);
  }
  .tip p {
    overflow-wrap: anywhere;
  }
  .tip dl {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 0 var(--space-3);
  }
  .tip dt {
    color: var(--color-text-3);
  }
  .tip dd {
    color: var(--color-text);
    text-align: right;
    font-variant-numeric: tabular-nums;
  }
`;
