import type { Evaluation } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Job } from '../data/jobs.js';
import { formatDuration, formatValue, shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles } from '../styles/shared.js';
import './svc-status.js';
import './svc-time.js';

const SHOWN_METRICS = 8;

/** Evaluations, newest first: their state, by which protocol, what they measured, and their job. */
@customElement('svc-evaluations-table')
export class SvcEvaluationsTable extends LitElement {
  @property({ attribute: false }) evaluations: readonly Evaluation[] = [];
  /** Jobs of evaluations that have not ended, by id: their state is more than that they wait. */
  @property({ attribute: false }) jobs: ReadonlyMap<string, Job> = new Map();
  /** The name of a run, by its id. */
  @property({ attribute: false }) nameOf = shortId;
  /** Left out where the page is about that very checkpoint. */
  @property({ type: Boolean }) unlinked = false;

  static override styles = [
    baseStyles,
    css`
      li {
        display: grid;
        grid-template-columns: 6.75rem minmax(0, 1fr) auto;
        gap: var(--space-1) var(--space-4);
        align-items: start;
        padding: var(--space-3) var(--space-4);
        font-size: var(--text-sm);
      }
      li + li {
        border-top: 1px solid var(--color-line);
      }
      .what {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: var(--space-1);
        min-width: 0;
        overflow-wrap: anywhere;
      }
      .labels {
        font-weight: var(--weight-medium);
      }
      .metrics {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-1) var(--space-4);
      }
      .metrics dt {
        display: inline;
        color: var(--color-text-2);
      }
      .metrics dd {
        display: inline;
        font-weight: var(--weight-medium);
        font-variant-numeric: tabular-nums;
      }
      .error {
        color: var(--color-danger);
        white-space: pre-line;
      }
      .links {
        display: flex;
        gap: 0 var(--space-3);
        font-size: var(--text-xs);
        white-space: nowrap;
      }
      /* Its name comes later than the rest, and then moves nothing. */
      .links .run {
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .links a {
        line-height: var(--target-min);
        text-decoration: underline;
        text-underline-offset: 3px;
      }
      .times {
        color: var(--color-text-3);
        text-align: right;
        white-space: nowrap;
      }
      @media (max-width: 40rem) {
        li {
          grid-template-columns: minmax(0, 1fr) auto;
        }
        .what {
          grid-row: 2;
          grid-column: 1 / -1;
        }
        .links {
          flex-wrap: wrap;
        }
        .links .run {
          width: 100%;
        }
      }
    `,
  ];

  override render() {
    return html`<ul>
      ${repeat(
        this.evaluations,
        ({ id }) => id,
        (evaluation) => this.#renderEvaluation(evaluation),
      )}
    </ul>`;
  }

  #renderEvaluation(evaluation: Evaluation) {
    const { id, status, job_id: jobId, error, created_at: createdAt, runtime_s: runtimeS } = evaluation;
    const job = status === 'QUEUED' ? this.jobs.get(jobId) : undefined;
    return html`<li title=${id}>
      <span><svc-status value=${job?.status ?? status}></svc-status></span>
      <div class="what">
        <span class="labels">${describeProtocol(evaluation)}</span>
        ${renderMetrics(evaluation)} ${error === null ? nothing : html`<span class="error">${error}</span>`}
        ${job?.pending_reason ? html`<span class="quiet">${job.pending_reason}</span>` : nothing}
        ${this.#renderLinks(evaluation)}
      </div>
      <span class="times"
        ><svc-time .from=${createdAt}></svc-time>${
          runtimeS === null ? nothing : html`<br />took ${formatDuration(runtimeS * 1000)}`
        }</span
      >
    </li>`;
  }

  #renderLinks({ job_id: job, checkpoint_id: checkpoint, run_id: run }: Evaluation) {
    const name = this.nameOf(run);
    return html`<span class="links">
      ${this.unlinked ? nothing : html`<a href=${paths.checkpoint(checkpoint)}>checkpoint ${shortId(checkpoint)}</a>`}
      <a href=${paths.job(job)}>job ${shortId(job)}</a>
      ${this.unlinked ? nothing : html`<a class="run" href=${paths.run(run)} title=${name}>run ${name}</a>`}
    </span>`;
  }
}

function describeProtocol({ suite, dataset, dataset_version: version }: Evaluation): string {
  const data = [dataset, version].filter(Boolean).join(' ');
  return [suite, data].filter(Boolean).join(' · ') || 'without labels';
}

function renderMetrics({ metrics }: Evaluation) {
  const entries = Object.entries(metrics);
  if (entries.length === 0) return nothing;
  return html`<dl class="metrics">
      ${entries.slice(0, SHOWN_METRICS).map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${formatValue(fromMetricValue(value))}</dd>
          </div>`,
      )}
    </dl>
    ${entries.length > SHOWN_METRICS ? html`<span class="quiet">and ${entries.length - SHOWN_METRICS} more</span>` : nothing}`;
}
