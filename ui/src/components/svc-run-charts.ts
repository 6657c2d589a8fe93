import { consume } from '@lit/context';
import type { RunSummary } from '@svc/contract';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { groupMetrics, orderGroups, type MetricGroup } from '../chart/groups.js';
import '../chart/svc-chart.js';
import { RunMetrics } from '../controllers/run-metrics.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { formatCount } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { icon } from './icons.js';

const FIRST_CHARTS = 24;

/** The curves of a run, one chart per measure, with one zoom, smoothing and scale for all. */
@customElement('svc-run-charts')
export class SvcRunCharts extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() runId = '';
  @property({ attribute: false }) summary: RunSummary | null = null;
  @property({ type: Boolean }) live = false;
  @state() private filter = '';
  @state() private isLog = false;
  @state() private smoothing = 0;
  @state() private isAll = false;

  readonly #metrics = new RunMetrics(
    this,
    () => this.api,
    () => this.runId,
  );

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    css`
      .tools {
        position: sticky;
        z-index: 4;
        top: 0;
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-4);
        margin-bottom: var(--space-2);
        padding-block: var(--space-2);
        background: var(--color-bg);
      }
      .live {
        display: flex;
        gap: var(--space-3);
        margin-right: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
        font-weight: var(--weight-normal);
      }
      label,
      .range {
        display: inline-flex;
        align-items: center;
        gap: var(--space-2);
        color: var(--color-text-2);
        font-size: var(--text-sm);
      }
      .range .input {
        width: 5rem;
        padding: 0 var(--space-2);
        appearance: textfield;
      }
      .range .input::-webkit-inner-spin-button {
        display: none;
      }
      input[type='range'] {
        width: 7rem;
        accent-color: var(--color-accent);
      }
      output {
        min-width: 2.25rem;
        font-variant-numeric: tabular-nums;
      }
      .grid {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(21rem, 100%), 1fr));
        gap: var(--space-4);
      }
      svc-chart {
        border: 1px solid var(--color-line);
        border-radius: var(--radius-lg);
        background: var(--color-surface);
        height: 17rem;
      }
      .problem {
        margin-bottom: var(--space-3);
        color: var(--color-danger);
        font-size: var(--text-sm);
      }
      .more {
        display: flex;
        justify-content: center;
        margin-top: var(--space-4);
      }
      @media (pointer: coarse) {
        .hint {
          display: none;
        }
      }
      @media (max-width: 56rem) {
        .tools {
          position: static;
        }
      }
    `,
  ];

  override willUpdate(changed: PropertyValues<this>): void {
    if (this.summary === null) return;
    this.#metrics.watch(
      this.#groups.flatMap(({ names }) => names),
      this.live,
    );
    if (changed.has('summary')) void this.#metrics.check(this.summary.metrics);
  }

  override render() {
    const all = this.#allGroups;
    if (all.length === 0) return nothing;
    const groups = this.#groups;
    const metrics = this.#metrics;
    return html`
      ${this.#renderTools(all.length)}
      ${metrics.error ? html`<p class="problem" role="status">The points could not be loaded. ${metrics.error.message}</p>` : nothing}
      <div class="grid">
        ${repeat(
          groups,
          ({ title, names }) => `${title}\n${names.join('\n')}`,
          (group) => this.#renderChart(group),
        )}
      </div>
      ${groups.length === 0 ? html`<p class="quiet">No metric’s name contains “${this.filter}”.</p>` : nothing}
      ${
        groups.length < this.#matching.length
          ? html`<p class="more">
              <button class="button" @click=${() => (this.isAll = true)}>
                Show all ${formatCount(this.#matching.length)} charts
              </button>
            </p>`
          : nothing
      }
    `;
  }

  #renderTools(count: number) {
    return html`<div class="tools">
      <h2>Charts</h2>
      ${this.#describeStream()} ${this.#renderZoom()}
      ${
        count > 6
          ? html`<input
              class="input"
              type="search"
              placeholder="Filter metrics"
              aria-label="Filter metrics"
              @input=${this.#onFilter}
            />`
          : nothing
      }
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          .value=${String(this.smoothing)}
          @input=${(event: Event) => (this.smoothing = Number((event.target as HTMLInputElement).value))}
        />
        <output>${this.smoothing === 0 ? 'off' : this.smoothing.toFixed(2)}</output>
      </label>
      <button
        class="button"
        aria-pressed=${this.isLog ? 'true' : 'false'}
        @click=${() => (this.isLog = !this.isLog)}
      >
        Log scale
      </button>
    </div>`;
  }

  /** The range in figures: for keyboard and touch, and to be exact. */
  #renderZoom() {
    const [from, to] = this.#metrics.range ?? ['', ''];
    return html`<form
      class="range"
      aria-label="Steps shown"
      @change=${this.#onRange}
      @submit=${this.#onRange}
    >
      Steps
      <input
        class="input"
        name="from"
        type="number"
        placeholder="first"
        aria-label="From step"
        .value=${String(from)}
      />
      –
      <input
        class="input"
        name="to"
        type="number"
        placeholder="last"
        aria-label="To step"
        .value=${String(to)}
      />
      ${
        this.#metrics.range
          ? html`<button
              class="button plain icon"
              type="button"
              aria-label="Show all steps"
              title="Show all steps"
              @click=${this.#showAll}
            >
              ${icon('cross', 14)}
            </button>`
          : nothing
      }
    </form>`;
  }

  #renderChart({ title, names }: MetricGroup) {
    const metrics = this.#metrics;
    return html`<svc-chart
      heading=${title}
      syncKey=${this.runId}
      .lines=${names.map((name) => ({ name, series: metrics.series(name) }))}
      .revision=${metrics.revision}
      .range=${metrics.range}
      .smoothing=${this.smoothing}
      ?log=${this.isLog}
      @svc-zoom=${this.#onZoom}
    ></svc-chart>`;
  }

  #describeStream() {
    const isOpen = this.#metrics.streamState === 'live';
    return html`<span class="live">
      ${this.live ? html`<span>${isOpen ? 'live' : 'connecting'}</span>` : nothing}
      <span class="hint">drag to zoom, double-click to reset</span>
    </span>`;
  }

  get #allGroups(): MetricGroup[] {
    const metrics = this.summary?.metrics ?? {};
    return orderGroups(
      groupMetrics(Object.keys(metrics).sort()),
      (name) => metrics[name]?.is_primary ?? false,
    );
  }

  get #matching(): MetricGroup[] {
    const needle = this.filter.toLowerCase();
    return this.#allGroups.filter(({ title, names }) =>
      [title, ...names].some((name) => name.toLowerCase().includes(needle)),
    );
  }

  get #groups(): MetricGroup[] {
    return this.isAll ? this.#matching : this.#matching.slice(0, FIRST_CHARTS);
  }

  readonly #onZoom = (event: Event): void => {
    const range = (event as CustomEvent<[number, number] | null>).detail;
    if (range === null && this.#metrics.range === null) return;
    void this.#metrics.zoom(range);
  };

  readonly #showAll = (): void => void this.#metrics.zoom(null);

  readonly #onRange = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const last = Math.max(
      ...this.#groups.flatMap(({ names }) =>
        names.map((name) => this.#metrics.series(name).steps.at(-1) ?? 0),
      ),
    );
    const from = form.get('from') === '' ? 0 : Number(form.get('from'));
    const to = form.get('to') === '' ? last : Number(form.get('to'));
    const isWhole = form.get('from') === '' && form.get('to') === '';
    void this.#metrics.zoom(isWhole || from >= to ? null : [Math.floor(from), Math.ceil(to)]);
  };

  readonly #onFilter = (event: Event): void => {
    this.filter = (event.target as HTMLInputElement).value;
  };
}
