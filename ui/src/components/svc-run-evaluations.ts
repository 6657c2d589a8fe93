import { consume } from '@lit/context';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { listEvaluations, type Evaluation } from '../data/evaluations.js';
import type { Run } from '../data/runs.js';
import { formatCount, formatDuration, formatValue, shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, panelStyles } from '../styles/shared.js';
import { dataTableStyles } from '../styles/table-styles.js';
import { renderPart } from './record-parts.js';
import './svc-notice.js';
import './svc-status.js';
import './svc-time.js';

const POLL_MS = 60_000;
const MOST_SHOWN = 500;

/** The evaluations of the checkpoints of a run, newest first. */
@customElement('svc-run-evaluations')
export class SvcRunEvaluations extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;

  readonly #evaluations = new Loader(this, {
    load: (signal) => listEvaluations(this.api, { run_id: this.run.id, limit: MOST_SHOWN + 1 }, signal),
    everyMs: POLL_MS,
  });

  static override styles = [
    baseStyles,
    panelStyles,
    dataTableStyles,
    css`
      th,
      td {
        padding: 0.375rem var(--space-4);
        vertical-align: baseline;
      }
      .count {
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .results {
        min-width: 12rem;
        overflow-wrap: anywhere;
      }
      .results b {
        font-weight: var(--weight-medium);
      }
      .error {
        color: var(--color-danger);
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some(({ run_id: id }) => id === this.run.id)) this.#evaluations.refresh();
    });
  }

  override render() {
    return renderPart(this.#evaluations, 'evaluations', (evaluations) => {
      if (evaluations.length === 0)
        return html`<svc-notice
          headline="No evaluations"
          command="svc evaluate CHECKPOINT --suite held-out -- python3 evaluate.py"
          >Evaluate a checkpoint of this run, and its results outrank the values of the training.</svc-notice
        >`;
      const count =
        evaluations.length > MOST_SHOWN ? `the newest ${MOST_SHOWN}` : formatCount(evaluations.length);
      return html`<div class="panel-head">
          <h2>Evaluations</h2>
          <span class="count">${count}</span>
        </div>
        ${this.#renderTable(evaluations.slice(0, MOST_SHOWN))}`;
    });
  }

  #renderTable(evaluations: readonly Evaluation[]) {
    const titles = ['Status', 'Results', 'Suite', 'Dataset', 'Checkpoint', 'Job', 'Took', 'Created'];
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Evaluations">
      <table>
        <thead>
          <tr>
            ${titles.map((title) => html`<th scope="col">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${repeat(
            evaluations,
            ({ id }) => id,
            (evaluation) => renderEvaluation(evaluation),
          )}
        </tbody>
      </table>
    </div>`;
  }
}

function renderEvaluation(evaluation: Evaluation) {
  const { id, status, suite, dataset, dataset_version: version, runtime_s: seconds } = evaluation;
  return html`<tr title=${id}>
    <td><svc-status value=${status}></svc-status></td>
    <td class="results">${renderResults(evaluation)}</td>
    <td>${suite ?? '–'}</td>
    <td>${dataset ?? '–'}${version === null ? '' : `, ${version}`}</td>
    <td><code title=${evaluation.checkpoint_id}>${shortId(evaluation.checkpoint_id)}</code></td>
    <td>
      <a href=${paths.job(evaluation.job_id)} title=${evaluation.job_id}>${shortId(evaluation.job_id)}</a>
    </td>
    <td>${seconds === null ? '–' : formatDuration(seconds * 1000)}</td>
    <td class="quiet"><svc-time .from=${evaluation.created_at}></svc-time></td>
  </tr>`;
}

function renderResults({ metrics, error }: Evaluation) {
  if (error !== null) return html`<span class="error">${error}</span>`;
  const results = Object.entries(metrics);
  if (results.length === 0) return html`<span class="quiet">–</span>`;
  return results.map(
    ([name, value], at) =>
      html`${at === 0 ? nothing : ', '}<bdi>${name}</bdi> <b>${formatValue(fromMetricValue(value))}</b>`,
  );
}
