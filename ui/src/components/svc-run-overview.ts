import { consume } from '@lit/context';
import { LitElement, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { listCheckpoints } from '../data/checkpoints.js';
import { apiContext } from '../data/contexts.js';
import { toEnvironment } from '../data/environment.js';
import { listEvents } from '../data/events.js';
import { getJob } from '../data/jobs.js';
import { findNodeOfRun } from '../data/node-of-run.js';
import { listExperiments, listProjects } from '../data/projects.js';
import type { Run, RunSummary } from '../data/runs.js';
import { formatDuration, shortId } from '../format.js';
import { paths } from '../paths.js';
import { baseStyles, controlStyles, panelStyles } from '../styles/shared.js';
import { fact, snapshotFact } from './record-parts.js';
import { runOverviewStyles } from './run-overview-styles.js';
import './svc-checkpoints-table.js';
import './svc-environment.js';
import './svc-events-list.js';
import './svc-metrics-table.js';
import './svc-notice.js';
import './svc-progress.js';
import './svc-record.js';
import './svc-run-charts.js';
import './svc-skeleton.js';
import './svc-time.js';

const POLL_MS = 60_000;
const SHOWN_EVENTS = 12;
const SHOWN_CHECKPOINTS = 100;

/** How far a run is, what its metrics say, their curves, live, and what is known of it besides. */
@customElement('svc-run-overview')
export class SvcRunOverview extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;
  @property({ attribute: false }) summary: RunSummary | null = null;

  /** The newest values that the charts know. */
  @state() private latest: ReadonlyMap<string, number> = new Map();

  readonly #events = new Loader(this, {
    load: (signal) => listEvents(this.api, { run_id: this.run.id, limit: SHOWN_EVENTS + 1 }, signal),
    everyMs: POLL_MS,
  });
  readonly #checkpoints = new Loader(this, {
    load: (signal) => this.#loadCheckpoints(signal),
    everyMs: POLL_MS,
  });
  readonly #job = new Loader(this, {
    load: async (signal) => (this.run.job_id === null ? null : getJob(this.api, this.run.job_id, signal)),
  });
  readonly #places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
  });

  static override styles = [baseStyles, controlStyles, panelStyles, runOverviewStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const own = events.filter((event) => event.run_id === this.run.id);
      if (own.length > 0) this.#events.refresh();
      if (own.some(({ type }) => type === 'CHECKPOINT_CREATED')) this.#checkpoints.refresh();
    });
  }

  override render() {
    const { run } = this;
    return html`
      ${this.#renderOverview(run)}
      <svc-run-charts
        .runId=${run.id}
        .summary=${this.summary}
        ?live=${this.#isLive}
        @svc-latest=${(event: CustomEvent<ReadonlyMap<string, number>>) => (this.latest = event.detail)}
      ></svc-run-charts>
      <div class="details">
        ${this.#renderCheckpoints()} ${this.#renderConfig(run)} ${this.#renderEnvironment(run)}
        ${this.#renderEvents()}
      </div>
    `;
  }

  async #loadCheckpoints(signal: AbortSignal) {
    const checkpoints = await listCheckpoints(this.api, this.run.id, SHOWN_CHECKPOINTS + 1, signal);
    const node = checkpoints.length > 0 ? await findNodeOfRun(this.api, this.run, signal) : null;
    return { checkpoints, node };
  }

  get #isLive(): boolean {
    return this.run.status === 'RUNNING' || this.run.status === 'LOST';
  }

  #renderOverview(run: Run) {
    return html`<div class="overview">
      <section class="panel facts-panel">
        <svc-progress .step=${run.step} .max=${run.max_steps} status=${run.status}></svc-progress>
        <dl class="facts">
          ${fact('Project', this.#nameProject(run))} ${fact('Experiment', this.#nameExperiment(run))}
          ${fact('Duration', html`<svc-time elapsed .from=${run.started_at} .to=${run.finished_at}></svc-time>${this.#describeRest(run)}`)}
          ${fact('Started', html`<svc-time .from=${run.started_at}></svc-time>`)}
          ${run.epoch === null ? nothing : fact('Epoch', String(Number(run.epoch.toFixed(2))))}
          ${run.job_id ? fact('Job', html`<a href=${paths.job(run.job_id)}>${this.#job.value?.name ?? shortId(run.job_id)}</a>, attempt ${run.attempt ?? 1}`) : nothing}
          ${this.#job.value ? snapshotFact(this.#job.value) : nothing} ${fact('Source', run.source)}
          ${this.#renderCommit(run)} ${run.tags.length > 0 ? fact('Tags', this.#renderTags(run)) : nothing}
        </dl>
        ${run.notes ? html`<p class="notes">${run.notes}</p>` : nothing}
      </section>
      <section class="panel">${this.#renderSummary()}</section>
    </div>`;
  }

  #renderSummary() {
    const { summary } = this;
    if (!summary) return html`<svc-skeleton rows="4"></svc-skeleton>`;
    if (Object.keys(summary.metrics).length > 0)
      return html`<svc-metrics-table
        .summary=${summary}
        .latest=${this.latest}
        .projectId=${this.run.project_id}
      ></svc-metrics-table>`;
    if (!this.#isLive) return html`<p class="none">This run ended without logging a metric.</p>`;
    return html`<svc-notice
      icon="runs"
      headline="No metrics yet"
      command=${'import svc\nrun = svc.init()\nrun.log({"train/loss": loss}, step=step)'}
      >Log from the training code and the curves appear here.</svc-notice
    >`;
  }

  #renderConfig({ config }: Run) {
    if (Object.keys(config).length === 0) return nothing;
    return html`<section class="panel">
      <svc-record heading="Config" open .value=${config}></svc-record>
    </section>`;
  }

  #renderEnvironment({ environment }: Run) {
    if (Object.keys(environment).length === 0) return nothing;
    return html`<section class="panel"><svc-environment .value=${environment}></svc-environment></section>`;
  }

  #renderCommit({ environment }: Run) {
    const { commit } = toEnvironment(environment);
    if (!commit) return nothing;
    const state = [commit.branch, commit.isDirty ? 'with changes' : null].filter(Boolean).join(', ');
    return fact('Commit', html`<code title=${commit.id}>${commit.id.slice(0, 8)}</code> ${state}`);
  }

  #renderTags({ tags }: Run) {
    return tags.map(
      (tag, index) => html`${index === 0 ? '' : ', '}<a href=${paths.runs({ tags: tag })}>${tag}</a>`,
    );
  }

  #renderCheckpoints() {
    const { checkpoints = [], node = null } = this.#checkpoints.value ?? {};
    if (checkpoints.length === 0) return nothing;
    const place = node === null ? '' : `, on ${node}`;
    const hasMore = checkpoints.length > SHOWN_CHECKPOINTS;
    return html`<section class="panel wide">
      <div class="panel-head">
        <h2>Checkpoints</h2>
        <span class="quiet">${hasMore ? `the newest ${SHOWN_CHECKPOINTS}` : checkpoints.length}${place}</span>
      </div>
      <svc-checkpoints-table .checkpoints=${checkpoints.slice(0, SHOWN_CHECKPOINTS)}></svc-checkpoints-table>
    </section>`;
  }

  #renderEvents() {
    const events = this.#events.value ?? [];
    if (events.length === 0) return nothing;
    return html`<section class="panel events">
      <div class="panel-head">
        <h2>Events</h2>
        ${
          events.length > SHOWN_EVENTS
            ? html`<a class="all" href=${paths.events({ run_id: this.run.id })}>Show all</a>`
            : nothing
        }
      </div>
      <svc-events-list unlinked .events=${events.slice(0, SHOWN_EVENTS)}></svc-events-list>
    </section>`;
  }

  #nameProject({ project_id: id }: Run) {
    if (!id) return '–';
    const name = this.#places.value?.[0].find((project) => project.id === id)?.name ?? shortId(id);
    return html`<a href=${paths.runs({ project_id: id })}>${name}</a>`;
  }

  #nameExperiment({ experiment_id: id }: Run) {
    if (!id) return '–';
    const name = this.#places.value?.[1].find((experiment) => experiment.id === id)?.name ?? shortId(id);
    return html`<a href=${paths.runs({ experiment_id: id })}>${name}</a>`;
  }

  /** The time left at the pace so far. A run that reports nothing has no pace. */
  #describeRest({ step, max_steps: max, started_at: from, finished_at: to, stale_since }: Run) {
    if (to !== null || !step || max === null || step >= max) return nothing;
    if (stale_since !== null || this.summary?.health.status === 'stale') return nothing;
    const restMs = ((this.api.now() - from) / step) * (max - step);
    return html`<span class="quiet"> · about ${formatDuration(restMs)} left</span>`;
  }
}
