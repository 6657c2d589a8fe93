import { consume } from '@lit/context';
import type { Evaluation } from '@svc/contract';
import { LitElement, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import '../components/svc-evaluations-table.js';
import '../components/svc-list.js';
import '../components/svc-notice.js';
import { ListController } from '../controllers/list.js';
import { LiveEvents } from '../controllers/live-events.js';
import { RecordNames } from '../controllers/record-names.js';
import { WaitingJobs } from '../controllers/waiting-jobs.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { readEvaluations, type EvaluationFilter, type ListPage } from '../data/lists.js';
import { shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tabStyles } from '../styles/tab-styles.js';
import { renderCheckpointTabs, scopeStyles } from './checkpoint-tabs.js';

/** Evaluations of all checkpoints, of one, or of one run, newest first. */
@customElement('svc-evaluations-page')
export class SvcEvaluationsPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();

  readonly #names = new RecordNames(this, () => this.api);
  readonly #waiting = new WaitingJobs(this, () => this.api);
  readonly #evaluations = new ListController<Evaluation>(this, {
    question: () => JSON.stringify(this.#filter),
    read: (last, signal) => this.#read(last, signal),
    everyMs: 10_000,
  });

  static override styles = [baseStyles, controlStyles, pageStyles, tabStyles, scopeStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some(({ job_id: jobId }) => jobId !== null)) this.#evaluations.refresh();
    });
  }

  override render() {
    return html`
      <header class="page-head"><h1>Evaluations</h1></header>
      ${renderCheckpointTabs('evaluations', this.#filter.run_id ?? null)} ${this.#renderScope()}
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
    return { run_id: this.query.get('run_id'), checkpoint_id: this.query.get('checkpoint_id') };
  }

  #renderScope() {
    const { run_id: runId, checkpoint_id: checkpointId } = this.#filter;
    if (!runId && !checkpointId) return nothing;
    const what = checkpointId
      ? html`of the checkpoint <a href=${paths.checkpoint(checkpointId)}>${shortId(checkpointId)}</a>`
      : html`of the run <a href=${paths.run(runId!)}>${this.#names.of(runId!)}</a>`;
    return html`<p class="scope"><span>${what}</span><a href=${paths.evaluations()}>Show all</a></p>`;
  }

  #renderEmpty() {
    return html`<svc-notice
      icon="evaluations"
      headline="No evaluations yet"
      command="svc evaluate --suite heldout CHECKPOINT python3 eval.py"
      >An evaluation measures a checkpoint by a script of yours. It starts here from the page of a
      <a href=${paths.checkpoints()}>checkpoint</a>, or by this command.</svc-notice
    >`;
  }

  /** The jobs of those that have not ended are read with the newest page. */
  async #read(last: Evaluation | null, signal: AbortSignal): Promise<ListPage<Evaluation>> {
    const page = await readEvaluations(this.api, this.#filter, last, signal);
    if (last === null) await this.#waiting.read(page.items, signal);
    return page;
  }
}
