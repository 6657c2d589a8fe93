import { consume } from '@lit/context';
import type { Run, RunSummary } from '@svc/contract';
import { LitElement, css, html, nothing } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { groupMetrics, orderGroups } from '../chart/groups.js';
import '../chart/svc-chart.js';
import { Loader } from '../controllers/loader.js';
import { RunMetrics } from '../controllers/run-metrics.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { getRunSummary } from '../data/runs.js';
import { paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { icon } from './icons.js';
import './svc-progress.js';

/**
 * A job's run in small: how far it is, and the curve of its primary metric. It reads at intervals and opens no stream:
 * the page beside it already holds two of the browser's six connections.
 */
@customElement('svc-run-preview')
export class SvcRunPreview extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) run!: Run;

  readonly #summary = new Loader(this, { load: (signal) => this.#loadSummary(signal), everyMs: 2000 });
  readonly #metrics = new RunMetrics(
    this,
    () => this.api,
    () => this.run.id,
  );

  static override styles = [
    baseStyles,
    iconStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
      }
      header {
        display: flex;
        align-items: center;
        gap: var(--space-5);
        min-height: 2.75rem;
        padding: var(--space-2) var(--space-4);
        border-bottom: 1px solid var(--color-line);
      }
      header svc-progress {
        flex: 1;
      }
      header a {
        display: inline-flex;
        align-items: center;
        gap: var(--space-1);
        max-width: 60%;
        font-size: var(--text-sm);
        font-weight: var(--weight-medium);
      }
      svc-chart {
        flex: 1;
      }
      .none {
        padding: var(--space-8) var(--space-4);
        color: var(--color-text-2);
        font-size: var(--text-sm);
        text-align: center;
      }
    `,
  ];

  override willUpdate(): void {
    this.#summary.interval = this.run.status === 'RUNNING' ? 2000 : null;
  }

  override render() {
    const { run } = this;
    const step = this.#summary.value?.step ?? run.step;
    return html`<header>
        <a href=${paths.run(run.id)}><span class="truncate">Run ${run.name}</span>${icon('right', 14)}</a>
        ${step === null ? nothing : html`<svc-progress .step=${step} .max=${run.max_steps} status=${run.status}></svc-progress>`}
      </header>
      ${this.#renderChart()}`;
  }

  #renderChart() {
    const summary = this.#summary.value;
    if (!summary) return html`<p class="none">&nbsp;</p>`;
    const group = primaryGroup(summary);
    if (!group) {
      return html`<p class="none">
        ${this.run.status === 'RUNNING' ? 'No metric logged yet.' : 'No metric was logged.'}
      </p>`;
    }
    return html`<svc-chart
      heading=${group.title}
      .lines=${group.names.map((name) => ({ name, series: this.#metrics.series(name) }))}
      .revision=${this.#metrics.revision}
      .range=${this.#metrics.range}
      @svc-zoom=${(event: CustomEvent<[number, number] | null>) => void this.#metrics.zoom(event.detail)}
    ></svc-chart>`;
  }

  async #loadSummary(signal: AbortSignal): Promise<RunSummary> {
    const summary = await getRunSummary(this.api, this.run.id, signal);
    this.#metrics.watch(primaryGroup(summary)?.names ?? [], false);
    void this.#metrics.check(summary.metrics);
    return summary;
  }
}

/** The chart that says most. */
function primaryGroup(summary: RunSummary) {
  const groups = groupMetrics(Object.keys(summary.metrics).sort());
  return orderGroups(groups, (name) => summary.metrics[name]?.is_primary ?? false)[0];
}
