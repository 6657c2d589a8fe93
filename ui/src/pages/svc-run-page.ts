import { consume } from '@lit/context';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { pointOfReason } from '../components/chart-marks.js';
import { icon } from '../components/icons.js';
import { loadFailure } from '../components/load-failure.js';
import { renderPending } from '../components/record-parts.js';
import '../components/svc-copy.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-status.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { getRun, getRunSummary, type Run } from '../data/runs.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { registryContext, type Registry, type RunTab } from './registry.js';
import { runPageStyles } from './run-page-styles.js';

const LIVE_POLL_MS = 5000;
const SLOW_POLL_MS = 60_000;

/** One run: its state and health, and one of its tabs. */
@customElement('svc-run-page')
export class SvcRunPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: registryContext }) private registry!: Registry;
  @property() runId = '';
  /** The name of a tab; any other text shows the first one. */
  @property() tab = '';
  /** By name: whether the code of a tab is there; false when it could not be loaded. */
  readonly #loaded = new Map<string, boolean>();

  readonly #run = new Loader(this, { load: (signal) => this.#loadRun(signal), everyMs: LIVE_POLL_MS });
  readonly #summary = new Loader(this, {
    load: (signal) => getRunSummary(this.api, this.runId, signal),
    everyMs: LIVE_POLL_MS,
  });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, runPageStyles];

  constructor() {
    super();
    this.addEventListener('svc-metric-changed', () => this.#summary.refresh());
    new LiveEvents(this, (events) => {
      if (events.some((event) => event.run_id === this.runId)) this.#refresh();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('tab')) void this.#loadTab(this.#currentTab);
  }

  override render() {
    const run = this.#run.value;
    if (!run) return renderPending(this.#run, 'run', paths.runs());
    return html`
      ${this.#renderHead(run)}
      <svc-stale
        .error=${this.#run.error ?? this.#summary.error}
        @svc-retry=${() => this.#refresh()}
      ></svc-stale>
      ${this.#renderTabs()} ${this.#renderTab(run)}
    `;
  }

  #renderHead(run: Run) {
    const health = this.#summary.value?.health;
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
              ${health.reasons.map((reason) => html`<li>${icon('warning', 14)}${this.#renderReason(reason)}</li>`)}
            </ul>`
          : nothing
      }`;
  }

  /** With a link to the place in the curve that it is about. */
  #renderReason(reason: string) {
    const point = pointOfReason(reason, Object.keys(this.#summary.value?.metrics ?? {}));
    if (point === null) return reason;
    const { metric, step } = point;
    return html`<a href=${paths.run(this.runId, { metric, step: String(step) })}>${reason}</a>`;
  }

  /** With one tab alone there is nothing to choose. */
  #renderTabs() {
    const { runTabs } = this.registry;
    if (runTabs.length < 2) return nothing;
    return html`<nav class="tabs" aria-label="Parts of the run">
      ${runTabs.map((tab, at) => this.#renderTabLink(tab, at === 0 ? null : tab.name))}
    </nav>`;
  }

  #renderTabLink({ name, label }: RunTab, tab: string | null) {
    return html`<a
      href=${paths.run(this.runId, { tab })}
      aria-current=${name === this.#currentTab.name ? 'page' : 'false'}
      >${label}</a
    >`;
  }

  #renderTab(run: Run) {
    const isLoaded = this.#loaded.get(this.#currentTab.name);
    if (isLoaded === undefined) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    return isLoaded ? this.#currentTab.render({ run, summary: this.#summary.value ?? null }) : loadFailure();
  }

  get #currentTab(): RunTab {
    const { runTabs } = this.registry;
    return runTabs.find(({ name }) => name === this.tab) ?? runTabs[0]!;
  }

  async #loadTab(tab: RunTab): Promise<void> {
    const isLoaded = await tab.load().then(
      () => true,
      () => false,
    );
    this.#loaded.set(tab.name, isLoaded);
    this.requestUpdate();
  }

  async #loadRun(signal: AbortSignal): Promise<Run> {
    const before = this.#run.value;
    const run = await getRun(this.api, this.runId, signal);
    document.title = `${run.name} · svc`;
    const isLive = run.status === 'RUNNING' || run.status === 'LOST';
    this.#run.interval = this.#summary.interval = isLive ? LIVE_POLL_MS : SLOW_POLL_MS;
    if (before && before.status !== run.status) this.#summary.refresh();
    return run;
  }

  #refresh(): void {
    this.#run.refresh();
    this.#summary.refresh();
  }
}
