import { consume } from '@lit/context';
import { fromMetricValue } from '@svc/contract/protocol';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { chooseMetrics, metricsOf, type ComparedMetric } from '../compare/chosen-metrics.js';
import {
  queryOf,
  runsIn,
  toList,
  viewOf,
  withRuns,
  withoutRuns,
  type CompareView,
} from '../compare/compare-view.js';
import { renderMetricChoices } from '../compare/metric-choices.js';
import { toShownRuns, type ShownRun } from '../compare/shown-run.js';
import '../compare/svc-compare-table.js';
import '../compare/svc-config-against-metric.js';
import type { AxesChoice } from '../compare/svc-config-against-metric.js';
import '../compare/svc-config-differences.js';
import '../compare/svc-run-picker.js';
import '../chart/svc-chart.js';
import type { ChartLine } from '../chart/svc-chart.js';
import { icon } from '../components/icons.js';
import { chartGridStyles } from '../components/run-charts-styles.js';
import '../components/svc-copy.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import '../components/svc-stale.js';
import { Comparison } from '../controllers/comparison.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { MAX_COMPARED, readComparedRuns, type RunsRead } from '../data/comparison.js';
import { apiContext } from '../data/contexts.js';
import { plural, shortId } from '../format.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { comparePageStyles } from './compare-page-styles.js';

const LIVE_POLL_MS = 15_000;
const SLOW_POLL_MS = 120_000;

/** Up to 50 runs side by side: best values, curves, config, and config against a metric. */
@customElement('svc-compare-page')
export class SvcComparePage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property({ attribute: false }) query = new URLSearchParams();
  @state() private isPicking = false;
  #view: CompareView = viewOf(this.query);
  #asked = '';
  #shown: readonly ShownRun[] = [];
  #metrics: readonly ComparedMetric[] = [];
  #chosen: readonly ComparedMetric[] = [];
  /** Of each chart: the same array until something in it is another. */
  readonly #lines = new Map<string, { key: unknown[]; lines: readonly ChartLine[] }>();

  readonly #runs = new Loader<RunsRead>(this, {
    load: (signal) => this.#loadRuns(signal),
    everyMs: LIVE_POLL_MS,
  });
  readonly #comparison = new Comparison(this, () => this.api);

  static override styles = [
    baseStyles,
    controlStyles,
    iconStyles,
    pageStyles,
    chartGridStyles,
    comparePageStyles,
  ];

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('query')) this.#view = viewOf(this.query);
    const asked = toList(this.#runIds);
    if (asked !== this.#asked) {
      this.#asked = asked;
      if (this.hasUpdated) this.#runs.reload();
    }
    this.#arrange();
  }

  /** What is shown of the runs that are there; a run that was just removed goes at once. */
  #arrange(): void {
    const { places, metrics, range } = this.#view;
    const read = this.#runs.value?.runs.filter(({ asked }) => places.includes(asked)) ?? [];
    this.#shown = toShownRuns(read, this.#view);
    this.#metrics = metricsOf(read.map(({ summary }) => summary));
    this.#chosen = chooseMetrics(this.#metrics, metrics);
    this.#comparison.watch({
      runIds: this.#shown.map(({ id }) => id),
      metrics: this.#chosen.map(({ name }) => name),
      ranked: this.#chosen.flatMap(({ name, direction }) => (direction ? [name] : [])),
      range,
    });
  }

  /** As the address names them. */
  get #runIds(): string[] {
    return runsIn(this.#view.places);
  }

  override render() {
    if (this.#runIds.length === 0) return this.#renderEmpty();
    return html`
      ${this.#renderHead()}
      <svc-stale
        .error=${this.#runs.value ? this.#runs.error : null}
        @svc-retry=${() => this.#runs.reload()}
      ></svc-stale>
      ${this.#renderPicker()} ${this.#renderNotes()} ${this.#renderBody()}
    `;
  }

  #renderEmpty() {
    return html`<header class="page-head"><h1>Compare runs</h1></header>
      <p class="lead">
        Choose up to ${MAX_COMPARED} runs: here, by their check boxes among the
        <a href=${paths.runs()}>runs</a>, or all of an experiment on its page under
        <a href=${paths.projects()}>projects</a>. The address of the comparison then shows the same view to
        everybody.
      </p>
      ${this.#renderRunPicker('Compare')}`;
  }

  #renderHead() {
    const hidden = this.#shown.filter(({ isHidden }) => isHidden).length;
    return html`<header class="page-head">
      <h1>Compare</h1>
      <p class="summary">
        ${plural(this.#runIds.length, 'run')}${hidden === 0 ? '' : `, ${hidden} of them hidden`}
      </p>
      <div class="actions">
        <span class="link"
          >Link<svc-copy label="Copy the link to this view" .text=${window.location.href}></svc-copy
        ></span>
        <button
          class="button"
          aria-expanded=${this.isPicking ? 'true' : 'false'}
          @click=${() => (this.isPicking = !this.isPicking)}
        >
          ${this.isPicking ? 'Close' : 'Add runs'}
        </button>
      </div>
    </header>`;
  }

  #renderPicker() {
    return this.isPicking ? html`<div class="picker">${this.#renderRunPicker('Add')}</div>` : nothing;
  }

  #renderRunPicker(verb: string) {
    const { places } = this.#view;
    return html`<svc-run-picker
      verb=${verb}
      .taken=${this.#shown.map(({ id }) => id)}
      .most=${MAX_COMPARED - this.#runIds.length}
      @svc-runs=${({ detail }: CustomEvent<string[]>) => {
        this.isPicking = false;
        this.#go({ places: withRuns(places, detail) }, { replace: false });
      }}
    ></svc-run-picker>`;
  }

  #renderNotes() {
    const { leftOut } = this.#view;
    const failures = this.#runs.value?.failures ?? [];
    const refused = this.#chosen.filter(
      ({ direction, name }) => direction && this.#comparison.of(name)?.refusal,
    );
    const notes = [
      leftOut > 0 &&
        `${MAX_COMPARED} runs are compared at most: the last ${leftOut} of the address are left out.`,
      ...failures.map(({ asked, error }) =>
        error.status === 404
          ? `There is no run ${shortId(asked)}: it was deleted, or the address is mistyped.`
          : `The run ${shortId(asked)} could not be loaded. ${error.message}`,
      ),
      ...refused.map(({ name }) => `${name} has no winner. ${this.#comparison.of(name)?.refusal?.message}`),
    ].filter((note) => note !== false);
    if (notes.length === 0) return nothing;
    return html`<div role="status">
      <ul class="notes">
        ${notes.map((note) => html`<li>${icon('warning', 14)}<span>${note}</span></li>`)}
      </ul>
    </div>`;
  }

  #renderBody() {
    if (!this.#runs.value) return this.#renderPending();
    if (this.#shown.length === 0) return this.#renderNone();
    const { baseline, isAllConfig, sort, target, x, axes } = this.#view;
    const visible = this.#shown.filter(({ isHidden }) => !isHidden);
    return html`
      <section class="panel">
        <svc-compare-table
          .runs=${this.#shown}
          .metrics=${this.#chosen}
          .rankings=${this.#rankings}
          .baseline=${baseline}
          .sort=${sort}
          @svc-hide=${({ detail }: CustomEvent<string>) => this.#toggleHidden(detail)}
          @svc-baseline=${({ detail }: CustomEvent<string | null>) => this.#go({ baseline: detail })}
          @svc-remove=${({ detail }: CustomEvent<string>) => this.#remove(detail)}
          @svc-sort=${({ detail }: CustomEvent<string | null>) => this.#go({ sort: detail })}
        ></svc-compare-table>
      </section>
      ${this.#renderTools()} ${this.#renderCharts(visible)}
      <section class="panel">
        <svc-config-differences
          .runs=${this.#shown}
          .baseline=${baseline}
          ?all=${isAllConfig}
          @svc-config=${({ detail }: CustomEvent<boolean>) => this.#go({ isAllConfig: detail })}
        ></svc-config-differences>
      </section>
      <section class="panel">
        <svc-config-against-metric
          .runs=${visible}
          .metrics=${this.#metrics}
          .target=${target}
          .x=${x}
          .axes=${axes}
          .bestOf=${this.#bestOf}
          @svc-axes=${({ detail }: CustomEvent<AxesChoice>) => this.#go(detail)}
        ></svc-config-against-metric>
      </section>
    `;
  }

  #renderPending() {
    const { error } = this.#runs;
    if (!error) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    return html`<div class="panel">
      <svc-notice
        tone="danger"
        headline="The runs could not be loaded"
        action="Try again"
        @svc-action=${() => this.#runs.reload()}
        >${error.message}</svc-notice
      >
    </div>`;
  }

  #renderNone() {
    return html`<div class="panel">
      <svc-notice icon="runs" headline="None of these runs is there"
        ><a href=${paths.compare()}>Choose runs to compare</a></svc-notice
      >
    </div>`;
  }

  #renderTools() {
    const { smoothing, isLog, range } = this.#view;
    return html`<div class="tools">
      <h2>Curves</h2>
      <span class="hint">drag to zoom, double-click to reset</span>
      ${renderMetricChoices(this.#metrics, this.#chosen, (name) => this.#toggleMetric(name))}
      ${
        range === null
          ? nothing
          : html`<button class="button" @click=${() => this.#go({ range: null })}>
              Steps ${range[0]}–${range[1]} ${icon('cross', 14)}<span class="visually-hidden">show all</span>
            </button>`
      }
      <label>
        Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          .value=${String(smoothing)}
          @input=${(event: Event) => this.#go({ smoothing: Number((event.target as HTMLInputElement).value) })}
        />
        <output>${smoothing === 0 ? 'off' : smoothing.toFixed(2)}</output>
      </label>
      <button
        class="button"
        aria-pressed=${isLog ? 'true' : 'false'}
        @click=${() => this.#go({ isLog: !isLog })}
      >
        Log scale
      </button>
    </div>`;
  }

  #renderCharts(visible: readonly ShownRun[]) {
    if (this.#metrics.length === 0)
      return html`<p class="none panel">None of these runs has logged a metric yet.</p>`;
    if (this.#chosen.length === 0)
      return html`<p class="none panel">No metric is chosen. Choose some under “Metrics”.</p>`;
    return html`<div class="grid">
      ${repeat(
        this.#chosen,
        ({ name }) => name,
        (metric) => this.#renderChart(metric, visible),
      )}
    </div>`;
  }

  #renderChart({ name }: ComparedMetric, visible: readonly ShownRun[]) {
    const { isLog, smoothing, range, full } = this.#view;
    const points = this.#comparison.of(name);
    const lines = this.#linesOf(name, visible);
    return html`<svc-chart
      heading=${name}
      note=${plural(lines.length, 'run')}
      .lines=${lines}
      ?log=${isLog}
      .smoothing=${smoothing}
      .range=${range}
      empty=${points === null ? 'Loading…' : 'None of the runs shown has this metric'}
      failure=${points?.error?.message ?? ''}
      syncKey="compare"
      ?full=${full === name}
      @svc-zoom=${this.#onZoom}
      @svc-full=${({ detail }: CustomEvent<boolean>) => this.#go({ full: detail ? name : null })}
    ></svc-chart>`;
  }

  /** Of the runs with points. The same array again while nothing in it has changed, so that the chart is not drawn anew. */
  #linesOf(metric: string, visible: readonly ShownRun[]): readonly ChartLine[] {
    const points = this.#comparison.of(metric);
    const key = [points, ...visible.flatMap(({ id, label, color }) => [id, label, color])];
    const held = this.#lines.get(metric);
    if (held && held.key.length === key.length && held.key.every((part, at) => part === key[at]))
      return held.lines;
    const lines = visible.flatMap(({ id, label, color }) => {
      const series = points?.seriesOf.get(id);
      return series && series.steps.length > 0 ? [{ key: id, name: label, label, color, series }] : [];
    });
    this.#lines.set(metric, { key, lines });
    return lines;
  }

  get #rankings() {
    return new Map(
      this.#chosen.flatMap(({ name, direction }) => {
        const ranking = this.#comparison.of(name)?.ranking;
        return direction && ranking ? [[name, ranking] as const] : [];
      }),
    );
  }

  /** As the table has it. */
  readonly #bestOf = (run: ShownRun, metric: string): number | null => {
    const entry = this.#rankings.get(metric)?.entries.find(({ run_id: id }) => id === run.id);
    if (entry && entry.best !== null) return fromMetricValue(entry.best);
    const own = run.summary.metrics[metric];
    return own ? fromMetricValue((own.best ?? own.latest).value) : null;
  };

  async #loadRuns(signal: AbortSignal): Promise<RunsRead> {
    const read = await readComparedRuns(this.api, runsIn(viewOf(this.query).places), signal);
    const isLive = read.runs.some(({ run }) => run.status === 'RUNNING' || run.status === 'LOST');
    this.#runs.interval = isLive ? LIVE_POLL_MS : SLOW_POLL_MS;
    if (this.#runs.value && isLive) this.#comparison.refresh();
    return read;
  }

  #toggleHidden(id: string): void {
    const { hidden } = this.#view;
    this.#go({ hidden: hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id] });
  }

  #toggleMetric(name: string): void {
    const chosen = this.#chosen.map((metric) => metric.name);
    const metrics = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    this.#go({ metrics });
  }

  #remove(id: string): void {
    const { places, hidden, baseline } = this.#view;
    const asked = this.#shown.find((run) => run.id === id)?.asked;
    this.#go(
      {
        places: withoutRuns(places, asked === undefined ? [] : [asked]),
        hidden: hidden.filter((one) => one !== id),
        baseline: baseline === id ? null : baseline,
      },
      { replace: false },
    );
  }

  readonly #onZoom = (event: Event): void => {
    const range = (event as CustomEvent<[number, number] | null>).detail;
    if (range !== null || this.#view.range !== null) this.#go({ range }, { replace: false });
  };

  #go(change: Partial<CompareView>, { replace = true } = {}): void {
    navigate(paths.compare(queryOf({ ...this.#view, ...change })), { replace });
  }
}
