import { consume } from '@lit/context';
import type { Evaluation } from '@svc/contract';
import { EVALUATION_STATUSES } from '@svc/contract/protocol';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import '../components/svc-evaluations-table.js';
import '../components/svc-filters.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import '../components/svc-record-search.js';
import type { ChosenRecord, RecordKind } from '../components/svc-record-search.js';
import { statusLabel } from '../components/svc-status.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { RecordNames } from '../controllers/record-names.js';
import { TypedSearch } from '../controllers/typed-search.js';
import { WaitingJobs } from '../controllers/waiting-jobs.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { readEvaluations, type EvaluationFilter, type ListPage } from '../data/lists.js';
import { shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tabStyles } from '../styles/tab-styles.js';
import { renderCheckpointTabs, scopeStyles } from './checkpoint-tabs.js';

const CHOICES = [
  { value: null, label: 'All' },
  ...EVALUATION_STATUSES.map((value) => ({ value, label: statusLabel(value) })),
];
const RUN_ALONE: readonly RecordKind[] = ['run'];

/** Evaluations of all checkpoints, of one, or of one run, newest first; filtered by the server. */
@customElement('svc-evaluations-page')
export class SvcEvaluationsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #search = new TypedSearch(this, {
    text: () => this.#filter.q,
    onRest: (q) => this.#go({ q }, { replace: true }),
  });
  readonly #names = new RecordNames(this, () => this.api);
  readonly #waiting = new WaitingJobs(this, () => this.api);
  readonly #evaluations = new ListController<Evaluation>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => this.#read(last, signal),
    everyMs: 10_000,
  });

  static override styles = [
    baseStyles,
    controlStyles,
    pageStyles,
    tabStyles,
    scopeStyles,
    css`
      .search {
        flex: 0 1 16rem;
        margin-left: auto;
      }
      .places {
        display: flex;
        gap: var(--space-2);
        margin-left: auto;
      }
      .places .select {
        max-width: 13rem;
      }
      @media (max-width: 56rem) {
        .search,
        .places {
          flex: 1 1 100%;
          min-width: 0;
          margin: 0;
        }
        .places > * {
          flex: 1 1 0;
          min-width: 0;
        }
        .places .select {
          max-width: none;
        }
      }
    `,
  ];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some(({ job_id: jobId }) => jobId !== null)) this.#evaluations.refresh();
    });
  }

  override render() {
    return html`
      <header class="page-head">
        <h1>Evaluations</h1>
        <input
          class="input search"
          type="search"
          aria-label="Search by suite or dataset"
          placeholder="Suite or dataset"
          spellcheck="false"
          maxlength="200"
          .value=${live(this.#search.text)}
          @input=${this.#search.onInput}
        />
      </header>
      ${renderCheckpointTabs('evaluations', this.#filter.run_id)} ${this.#renderFilters()}
      ${this.#renderScope()}
      <svc-list
        noun="evaluation"
        .view=${this.#evaluations.view}
        .renderItems=${(evaluations: readonly Evaluation[]) =>
          html`<svc-evaluations-table
            .evaluations=${evaluations}
            .jobs=${this.#waiting.jobs}
            .nameOf=${(id: string) => this.#names.of(id)}
          ></svc-evaluations-table>`}
        >${this.#renderEmpty()}</svc-list
      >
    `;
  }

  get #filter(): EvaluationFilter {
    const get = (name: string): string | null => this.query.get(name) || null;
    return {
      run_id: get('run_id'),
      checkpoint_id: get('checkpoint_id'),
      status: EVALUATION_STATUSES.find((status) => status === get('status')) ?? null,
      suite: get('suite'),
      q: get('q'),
    };
  }

  #renderFilters() {
    return html`<svc-filters
      label="Filter by status"
      .choices=${CHOICES}
      .value=${this.query.get('status')}
      @svc-filter=${({ detail }: CustomEvent<EvaluationFilter['status']>) => this.#go({ status: detail })}
    >
      <div class="places">
        ${this.#renderSuites()}
        <svc-record-search
          label="Evaluations of the run with this name or id"
          placeholder="Of a run"
          .kinds=${RUN_ALONE}
          @svc-record=${({ detail }: CustomEvent<ChosenRecord>) => this.#go({ run_id: detail.id, checkpoint_id: null })}
        ></svc-record-search>
      </div>
    </svc-filters>`;
  }

  /** Those of the evaluations that are listed, and the one in the address. */
  #renderSuites() {
    const { suite: chosen } = this.#filter;
    const listed = this.#evaluations.view.items.map(({ suite }) => suite);
    const suites = [...new Set([chosen, ...listed])].filter((suite) => suite !== null).sort();
    return html`<select
      class="select"
      aria-label="Suite"
      @change=${(event: Event) => this.#go({ suite: (event.target as HTMLSelectElement).value || null })}
    >
      <option value="" ?selected=${chosen === null}>All suites</option>
      ${suites.map((suite) => html`<option value=${suite} ?selected=${suite === chosen}>${suite}</option>`)}
    </select>`;
  }

  #renderScope() {
    const { run_id: runId, checkpoint_id: checkpointId, ...others } = this.#filter;
    if (!runId && !checkpointId) return nothing;
    const what = checkpointId
      ? html`of the checkpoint <a href=${paths.checkpoint(checkpointId)}>${shortId(checkpointId)}</a>`
      : html`of the run <a href=${paths.run(runId!)}>${this.#names.of(runId!)}</a>`;
    return html`<p class="scope">
      <span>${what}</span><a href=${paths.evaluations(others)}>Show those of all runs</a>
    </p>`;
  }

  #renderEmpty() {
    const { run_id, checkpoint_id, ...others } = this.#filter;
    if (Object.values(others).some(Boolean))
      return html`<svc-notice icon="evaluations" headline="No evaluation fits"
        ><a href=${paths.evaluations({ run_id, checkpoint_id })}>Show all evaluations</a></svc-notice
      >`;
    return html`<svc-notice
      icon="evaluations"
      headline="No evaluations yet"
      command="svc evaluate --suite heldout CHECKPOINT python3 eval.py"
      >An evaluation measures a checkpoint by a script of yours. It starts here from the page of a
      <a href=${paths.checkpoints()}>checkpoint</a>, or by this command.</svc-notice
    >`;
  }

  #go(changes: Partial<EvaluationFilter>, options: { replace?: boolean } = {}): void {
    navigate(paths.evaluations({ ...this.#filter, ...changes }), options);
  }

  /** The jobs of those that have not ended are read with the newest page. */
  async #read(last: Evaluation | null, signal: AbortSignal): Promise<ListPage<Evaluation>> {
    const page = await readEvaluations(this.api, this.#filter, last, signal);
    if (last === null) await this.#waiting.read(page.items, signal);
    return page;
  }
}
