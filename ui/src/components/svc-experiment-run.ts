import type { Run, RunComparison } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { formatValue, shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import { rowStyles } from '../styles/table-styles.js';
import './svc-progress.js';
import './svc-status.js';
import './svc-time.js';

/** A run in the list of its experiment, with its best value of the metric that ranks them. */
@customElement('svc-experiment-run')
export class SvcExperimentRun extends LitElement {
  @property({ attribute: false }) run!: Run;
  /** Of the list that it stands in; null: its runs are not ranked. */
  @property({ attribute: false }) ranking: RunComparison | null = null;

  static override styles = [
    baseStyles,
    rowStyles,
    css`
      .title {
        display: flex;
        align-items: baseline;
        gap: var(--space-2);
      }
      .value {
        font-variant-numeric: tabular-nums;
      }
      .pill {
        padding: 0 0.375rem;
        border-radius: var(--radius-sm);
        background: var(--color-success-soft);
        color: var(--color-success);
        font-size: var(--text-xs);
        font-weight: var(--weight-medium);
      }
      /* Without the heads of a table. */
      .metric {
        display: none;
      }
      @container (max-width: 50rem) {
        .metric {
          display: inline;
        }
        .row {
          grid-template:
            'title status' auto
            'value value' auto
            'progress progress' auto / minmax(0, 1fr) auto;
          gap: 0.375rem var(--space-2);
          align-items: baseline;
          padding-block: var(--space-3);
        }
        .title {
          flex-wrap: wrap;
          grid-area: title;
        }
        .name {
          display: -webkit-box;
          -webkit-box-orient: vertical;
          -webkit-line-clamp: 3;
          overflow-wrap: anywhere;
          white-space: normal;
        }
        .status {
          grid-area: status;
        }
        .value {
          grid-area: value;
          overflow-wrap: anywhere;
          text-align: start;
        }
        .progress {
          grid-area: progress;
        }
        .none,
        .age,
        .lasted {
          display: none;
        }
      }
    `,
  ];

  override render() {
    const { run, ranking } = this;
    const entry = ranking?.entries.find(({ run_id: id }) => id === run.id);
    const best = entry?.best ?? null;
    const isTied = ranking !== null && ranking.tied_ids.length > 1 && ranking.tied_ids.includes(run.id);
    return html`<div class="row" role="row">
      <div class="status" role="cell">
        <svc-status value=${run.stale_since === null ? run.status : 'stale'}></svc-status>
      </div>
      <div class="title" role="cell">
        <a class="name truncate" href=${paths.run(run.id)} title=${run.name}>${run.name}</a>
        <code class="quiet" title=${run.id}>${shortId(run.id)}</code>
      </div>
      <div class="value number ${best === null ? 'none' : ''}" role="cell">
        ${isTied || entry?.is_best ? html`<span class="pill">${isTied ? 'tied' : 'best'}</span> ` : nothing}${
          best === null
            ? '–'
            : html`<span class="metric quiet">best <bdi>${ranking?.metric}</bdi> </span
                >${formatValue(fromMetricValue(best))}`
        }
      </div>
      <div class="progress ${run.step === null ? 'none' : ''}" role="cell">
        <svc-progress .step=${run.step} .max=${run.max_steps} status=${run.status}></svc-progress>
      </div>
      <div class="age number quiet" role="cell"><svc-time .from=${run.created_at}></svc-time></div>
      <div class="lasted number" role="cell">
        <svc-time elapsed .from=${run.started_at} .to=${run.finished_at}></svc-time>
      </div>
    </div>`;
  }
}
