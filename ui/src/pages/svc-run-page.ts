import { consume } from '@lit/context';
import { LitElement, html, nothing } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { apiContext } from '../app/contexts.js';
import { paths } from '../app/paths.js';
import '../components/svc-checkpoints-table.js';
import '../components/svc-environment.js';
import '../components/svc-events-list.js';
import { icon } from '../components/icons.js';
import '../components/svc-copy.js';
import '../components/svc-metrics-table.js';
import '../components/svc-notice.js';
import '../components/svc-progress.js';
import '../components/svc-record.js';
import '../components/svc-run-charts.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-status.js';
import '../components/svc-time.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { listCheckpoints } from '../data/checkpoints.js';
import { toEnvironment } from '../data/environment.js';
import { listEvents } from '../data/events.js';
import { listExperiments, listProjects } from '../data/projects.js';
import { getRun, getRunSummary, type Run } from '../data/runs.js';
import { formatDuration, shortId } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { runPageStyles } from './run-page-styles.js';

const LIVE_POLL_MS = 5000;
const SLOW_POLL_MS = 60_000;
const SHOWN_EVENTS = 12;
const SHOWN_CHECKPOINTS = 100;

/** One run: how far it is, what its metrics say, and their curves, live. */
@customElement('svc-run-page')
export class SvcRunPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() runId = '';
  @state() private isLive = true;

  private readonly run = new Loader(this, { load: (signal) => this.loadRun(signal), everyMs: LIVE_POLL_MS });
  private readonly summary = new Loader(this, {
    load: (signal) => getRunSummary(this.api, this.runId, signal),
    everyMs: LIVE_POLL_MS,
  });
  private readonly events = new Loader(this, {
    load: (signal) => listEvents(this.api, { run_id: this.runId, limit: SHOWN_EVENTS + 1 }, signal),
    everyMs: SLOW_POLL_MS,
  });
  private readonly checkpoints = new Loader(this, {
    load: (signal) => listCheckpoints(this.api, this.runId, SHOWN_CHECKPOINTS + 1, signal),
    everyMs: SLOW_POLL_MS,
  });
  private readonly places = new Loader(this, {
    load: (signal) => Promise.all([listProjects(this.api, signal), listExperiments(this.api, signal)]),
  });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, runPageStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      const own = events.filter((event) => event.run_id === this.runId);
      if (own.length > 0) this.refresh();
      if (own.some(({ type }) => type === 'CHECKPOINT_CREATED')) this.checkpoints.refresh();
    });
  }

  override render() {
    const run = this.run.value;
    if (!run) return this.renderPending();
    return html`
      ${this.renderHead(run)}
      <svc-stale
        .error=${this.run.error ?? this.summary.error}
        @svc-retry=${() => this.refresh()}
      ></svc-stale>
      ${this.renderOverview(run)}
      <svc-run-charts
        .runId=${run.id}
        .summary=${this.summary.value ?? null}
        ?live=${this.isLive}
      ></svc-run-charts>
      <div class="details">
        ${this.renderCheckpoints()} ${this.renderConfig(run)} ${this.renderEnvironment(run)}
        ${this.renderEvents()}
      </div>
    `;
  }

  private renderPending() {
    if (!this.run.error) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    const isUnknown = this.run.error.status === 404;
    return html`<svc-notice
      tone="danger"
      headline=${isUnknown ? 'There is no such run' : 'The run could not be loaded'}
      action=${isUnknown ? '' : 'Try again'}
      @svc-action=${() => this.run.reload()}
      >${isUnknown ? html`<a href=${paths.runs()}>Show all runs</a>` : this.run.error.message}</svc-notice
    >`;
  }

  private renderHead(run: Run) {
    const health = this.summary.value?.health;
    return html`<a class="crumb" href=${paths.runs()}>${icon('left', 14)}Runs</a>
      <header class="page-head">
        <h1>${run.name}</h1>
        <svc-status value=${run.status}></svc-status>
        ${health && health.status !== 'ok' ? html`<svc-status value=${health.status}></svc-status>` : nothing}
        <span class="id"
          ><code>${run.id}</code><svc-copy label="Copy the run's id" .text=${run.id}></svc-copy
        ></span>
      </header>
      ${
        health && health.reasons.length > 0
          ? html`<ul class="reasons ${health.status}">
              ${health.reasons.map((reason) => html`<li>${icon('warning', 14)}${reason}</li>`)}
            </ul>`
          : nothing
      }`;
  }

  private renderOverview(run: Run) {
    return html`<div class="overview">
      <section class="panel facts-panel">
        <svc-progress .step=${run.step} .max=${run.max_steps} status=${run.status}></svc-progress>
        <dl class="facts">
          ${this.fact('Project', this.nameProject(run))} ${this.fact('Experiment', this.nameExperiment(run))}
          ${this.fact('Duration', html`<svc-time elapsed .from=${run.started_at} .to=${run.finished_at}></svc-time>${this.describeRest(run)}`)}
          ${this.fact('Started', html`<svc-time .from=${run.started_at}></svc-time>`)}
          ${run.epoch === null ? nothing : this.fact('Epoch', String(Number(run.epoch.toFixed(2))))}
          ${run.job_id ? this.fact('Job', html`<a href=${paths.job(run.job_id)}>${shortId(run.job_id)}</a>, attempt ${run.attempt ?? 1}`) : nothing}
          ${this.fact('Source', run.source)} ${this.renderCommit(run)}
          ${run.tags.length > 0 ? this.fact('Tags', this.renderTags(run)) : nothing}
        </dl>
        ${run.notes ? html`<p class="notes">${run.notes}</p>` : nothing}
      </section>
      <section class="panel">${this.renderSummary()}</section>
    </div>`;
  }

  private renderSummary() {
    const summary = this.summary.value;
    if (!summary) return html`<svc-skeleton rows="4"></svc-skeleton>`;
    if (Object.keys(summary.metrics).length > 0)
      return html`<svc-metrics-table .summary=${summary}></svc-metrics-table>`;
    if (!this.isLive) return html`<p class="none">This run ended without logging a metric.</p>`;
    return html`<svc-notice
      icon="runs"
      headline="No metrics yet"
      command=${'import svc\nrun = svc.init()\nrun.log({"train/loss": loss}, step=step)'}
      >Log from the training code and the curves appear here.</svc-notice
    >`;
  }

  private renderConfig({ config }: Run) {
    if (Object.keys(config).length === 0) return nothing;
    return html`<section class="panel">
      <svc-record heading="Config" open .value=${config}></svc-record>
    </section>`;
  }

  private renderEnvironment({ environment }: Run) {
    if (Object.keys(environment).length === 0) return nothing;
    return html`<section class="panel"><svc-environment .value=${environment}></svc-environment></section>`;
  }

  private renderCommit({ environment }: Run) {
    const { commit } = toEnvironment(environment);
    if (!commit) return nothing;
    const state = [commit.branch, commit.isDirty ? 'with changes' : null].filter(Boolean).join(', ');
    return this.fact('Commit', html`<code title=${commit.id}>${commit.id.slice(0, 8)}</code> ${state}`);
  }

  private renderTags({ tags }: Run) {
    return tags.map(
      (tag, index) => html`${index === 0 ? '' : ', '}<a href=${paths.runs({ tags: tag })}>${tag}</a>`,
    );
  }

  private renderCheckpoints() {
    const checkpoints = this.checkpoints.value ?? [];
    if (checkpoints.length === 0) return nothing;
    const hasMore = checkpoints.length > SHOWN_CHECKPOINTS;
    return html`<section class="panel wide">
      <div class="panel-head">
        <h2>Checkpoints</h2>
        <span class="quiet">${hasMore ? `the newest ${SHOWN_CHECKPOINTS}` : checkpoints.length}</span>
      </div>
      <svc-checkpoints-table .checkpoints=${checkpoints.slice(0, SHOWN_CHECKPOINTS)}></svc-checkpoints-table>
    </section>`;
  }

  private renderEvents() {
    const events = this.events.value ?? [];
    if (events.length === 0) return nothing;
    return html`<section class="panel events">
      <div class="panel-head">
        <h2>Events</h2>
        ${
          events.length > SHOWN_EVENTS
            ? html`<a class="all" href=${paths.events({ run_id: this.runId })}>Show all</a>`
            : nothing
        }
      </div>
      <svc-events-list unlinked .events=${events.slice(0, SHOWN_EVENTS)}></svc-events-list>
    </section>`;
  }

  private fact(name: string, value: unknown) {
    return html`<div>
      <dt>${name}</dt>
      <dd>${value}</dd>
    </div>`;
  }

  private nameProject({ project_id: id }: Run) {
    if (!id) return '–';
    const name = this.places.value?.[0].find((project) => project.id === id)?.name ?? shortId(id);
    return html`<a href=${paths.runs({ project_id: id })}>${name}</a>`;
  }

  private nameExperiment({ experiment_id: id }: Run) {
    if (!id) return '–';
    const name = this.places.value?.[1].find((experiment) => experiment.id === id)?.name ?? shortId(id);
    return html`<a href=${paths.runs({ experiment_id: id })}>${name}</a>`;
  }

  /** The time left at the pace so far. */
  private describeRest({ step, max_steps: max, started_at: from, finished_at: to }: Run) {
    if (to !== null || !step || max === null || step >= max) return nothing;
    const restMs = ((this.api.now() - from) / step) * (max - step);
    return html`<span class="quiet"> · about ${formatDuration(restMs)} left</span>`;
  }

  private async loadRun(signal: AbortSignal): Promise<Run> {
    const run = await getRun(this.api, this.runId, signal);
    document.title = `${run.name} · svc`;
    this.setLive(run.status === 'RUNNING' || run.status === 'LOST');
    return run;
  }

  private setLive(isLive: boolean): void {
    if (isLive === this.isLive) return;
    this.isLive = isLive;
    const everyMs = isLive ? LIVE_POLL_MS : SLOW_POLL_MS;
    this.run.interval = this.summary.interval = everyMs;
    this.summary.refresh();
  }

  private refresh(): void {
    this.run.refresh();
    this.summary.refresh();
    this.events.refresh();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'svc-run-page': SvcRunPage;
  }
}
