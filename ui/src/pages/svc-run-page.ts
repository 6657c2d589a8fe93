import { consume } from '@lit/context';
import { fromMetricValue, isDirectionKnown } from '@svc/contract/protocol';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { citationPath } from '../components/citation-link.js';
import { icon } from '../components/icons.js';
import { loadFailure } from '../components/load-failure.js';
import { renderPending } from '../components/record-parts.js';
import '../components/svc-copy.js';
import '../components/svc-progress.js';
import '../components/svc-run-actions.js';
import '../components/svc-run-place.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import '../components/svc-status.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { toApiError, type Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { getDiagnosis, type Diagnosis } from '../data/diagnosis.js';
import { getRun, getRunSummary, type Run, type RunSummary } from '../data/runs.js';
import { formatCount, formatDuration, formatValue } from '../format.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tabStyles } from '../styles/tab-styles.js';
import { nameTab } from '../tab-title.js';
import { registryContext, type Registry, type RunTab } from './registry.js';
import { runPageStyles } from './run-page-styles.js';

const LIVE_POLL_MS = 5000;
const SLOW_POLL_MS = 60_000;
/** More would push the charts out of sight. */
const SHOWN_REASONS = 3;

/** The evidence for the health, and of which health. */
const NO_EVIDENCE: { readonly of: string; readonly warnings: Diagnosis['health_warnings'] } = {
  of: '',
  warnings: [],
};

/** One run: its state and health, what can be done with it, and one of its tabs. */
@customElement('svc-run-page')
export class SvcRunPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: registryContext }) private registry!: Registry;
  @property() runId = '';
  /** `tab` is the name of a tab; any other text shows the first one. The rest belongs to the tab. */
  @property({ attribute: false }) query = new URLSearchParams();
  /** By name: whether the code of a tab is there; false when it could not be loaded. */
  readonly #loaded = new Map<string, boolean>();
  #evidence = NO_EVIDENCE;
  #tabInSight = '';

  readonly #run = new Loader(this, {
    load: (signal) => this.#loadRun(signal),
    everyMs: LIVE_POLL_MS,
    isRecord: true,
  });
  readonly #summary = new Loader(this, {
    load: (signal) => this.#loadSummary(signal),
    everyMs: LIVE_POLL_MS,
    isRecord: true,
  });

  static override styles = [baseStyles, controlStyles, iconStyles, pageStyles, tabStyles, runPageStyles];

  constructor() {
    super();
    this.addEventListener('svc-metric-changed', () => this.#summary.refresh());
    this.addEventListener('svc-run-changed', () => this.#refresh());
    new LiveEvents(this, (events) => {
      if (events.some((event) => event.run_id === this.runId)) this.#refresh();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('query')) void this.#loadTab(this.#currentTab);
  }

  /** The tabs may be wider than the window: the current one comes into sight, and the page does not move. */
  override updated(): void {
    const link = this.renderRoot.querySelector<HTMLElement>('.tabs [aria-current="page"]');
    if (!link || this.#tabInSight === this.#currentTab.name) return;
    this.#tabInSight = this.#currentTab.name;
    const tabs = link.parentElement!;
    tabs.scrollLeft = link.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - link.offsetWidth) / 2;
  }

  override render() {
    const run = this.#run.value;
    // The summary fills lines above the tab: drawn later, they would move it.
    if (!run || this.#run.isDeleted || !(this.#summary.value ?? this.#summary.error))
      return renderPending(this.#run, 'run', paths.runs());
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
        ${run.source === 'import' && run.status !== 'IMPORTED' ? html`<span class="quiet source">imported</span>` : nothing}
        ${health && health.status !== 'ok' ? html`<svc-status value=${health.status}></svc-status>` : nothing}
        <span class="id"
          ><code>${run.id}</code><svc-copy label="Copy the run's id" .text=${run.id}></svc-copy
        ></span>
        <svc-run-actions
          class="actions"
          .run=${run}
          .summary=${this.#summary.value ?? null}
        ></svc-run-actions>
      </header>
      <svc-run-place .run=${run}></svc-run-place>
      ${this.#renderFigures(run)} ${health ? this.#renderReasons(run, health) : nothing}`;
  }

  /** How far it is, and how good. */
  #renderFigures(run: Run) {
    const primary = Object.entries(this.#summary.value?.metrics ?? {}).find(
      ([, metric]) => metric.is_primary,
    );
    return html`<div class="figures">
      ${run.step === null ? nothing : html`<svc-progress .step=${run.step} .max=${run.max_steps} status=${run.status}></svc-progress>`}
      ${this.#renderRest(run)} ${primary ? renderPrimary(...primary) : nothing}
    </div>`;
  }

  /** The time left at the pace so far. A run that reports nothing has no pace. */
  #renderRest({ step, max_steps: max, started_at: from, finished_at: to, stale_since }: Run) {
    if (to !== null || !step || max === null || step >= max) return nothing;
    if (stale_since !== null || this.#summary.value?.health.status === 'stale') return nothing;
    const restMs = ((this.api.now() - from) / step) * (max - step);
    return html`<span class="quiet">about ${formatDuration(restMs)} left</span>`;
  }

  #renderReasons(run: Run, { status, reasons }: RunSummary['health']) {
    if (reasons.length === 0) return nothing;
    const render = (reason: string) =>
      html`<li>${icon('warning', 14)}<bdi>${reason}</bdi>${this.#renderPlace(run, reason)}</li>`;
    const more = reasons.slice(SHOWN_REASONS);
    return html`<div class="reasons ${status}">
      <ul>
        ${reasons.slice(0, SHOWN_REASONS).map(render)}
      </ul>
      ${
        more.length === 0
          ? nothing
          : html`<details>
              <summary>${more.length} more</summary>
              <ul>
                ${more.map(render)}
              </ul>
            </details>`
      }
      <a href=${paths.run(run.id, { tab: 'diagnosis' })}>What to do about it</a>
    </div>`;
  }

  /** Where the reason can be looked at. The link has its room before that is known, so that it moves nothing. */
  #renderPlace({ id, job_id: jobId }: Run, reason: string) {
    const [citation] = this.#evidence.warnings.find(({ message }) => message === reason)?.evidence ?? [];
    const path = citation ? citationPath(id, jobId, citation) : null;
    return path === null ? html` <span class="room">Show</span>` : html` <a href=${path}>Show</a>`;
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
    const tab = this.#currentTab;
    const isLoaded = this.#loaded.get(tab.name);
    if (isLoaded === undefined) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    if (!isLoaded) return loadFailure();
    return tab.render({ run, summary: this.#summary.value ?? null });
  }

  get #currentTab(): RunTab {
    const { runTabs } = this.registry;
    const wanted = this.query.get('tab');
    return runTabs.find(({ name }) => name === wanted) ?? runTabs[0]!;
  }

  async #loadTab(tab: RunTab): Promise<void> {
    if (this.#loaded.get(tab.name)) return;
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
    nameTab(run.name);
    const isLive = run.status === 'RUNNING' || run.status === 'LOST';
    this.#run.interval = this.#summary.interval = isLive ? LIVE_POLL_MS : SLOW_POLL_MS;
    if (before && before.status !== run.status) this.#summary.refresh();
    return run;
  }

  async #loadSummary(signal: AbortSignal): Promise<RunSummary> {
    const summary = await getRunSummary(this.api, this.runId, signal);
    const of = summary.health.reasons.join('\n');
    if (of !== this.#evidence.of) {
      this.#evidence = { of, warnings: [] };
      if (of !== '') void this.#loadEvidence(of, signal);
    }
    return summary;
  }

  /**
   * The summary says why the run is not healthy, the diagnosis where that can be seen. Without it the reasons are no links; a server that
   * does not answer is asked again with the next summary.
   */
  async #loadEvidence(of: string, signal: AbortSignal): Promise<void> {
    try {
      const { health_warnings: warnings } = await getDiagnosis(this.api, this.runId, signal);
      if (of !== this.#evidence.of) return;
      this.#evidence = { of, warnings };
      this.requestUpdate();
    } catch (error) {
      if (of === this.#evidence.of && !toApiError(error).isFinal) this.#evidence = NO_EVIDENCE;
    }
  }

  #refresh(): void {
    this.#run.refresh();
    this.#summary.refresh();
  }
}

/** The value now, and the best one where somebody knows which values are good. */
function renderPrimary(name: string, metric: RunSummary['metrics'][string]) {
  const { latest, best } = metric;
  const value = fromMetricValue(latest.value);
  return html`<span class="primary" title="Step ${formatCount(latest.step)}">
    <bdi>${name}</bdi> <b class=${Number.isFinite(value) ? '' : 'odd'}>${formatValue(value)}</b>${
      best !== null && isDirectionKnown(metric)
        ? html`<span class="quiet"
            >, best ${formatValue(fromMetricValue(best.value))} at step ${formatCount(best.step)}</span
          >`
        : nothing
    }
  </span>`;
}
