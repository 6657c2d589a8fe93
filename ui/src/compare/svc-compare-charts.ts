import { LitElement, html } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Range, XKind } from '../chart/axis.js';
import '../chart/svc-chart.js';
import type { ChartLine } from '../chart/svc-chart.js';
import { writeRange, type ChartView, type ViewChanges } from '../components/chart-view.js';
import { chartGridStyles } from '../components/run-charts-styles.js';
import '../components/svc-chart-controls.js';
import type { AddressWay } from '../controllers/address.js';
import type { ComparedPoints } from '../controllers/comparison.js';
import { plural } from '../format.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import type { ComparedMetric } from './chosen-metrics.js';
import type { CompareView } from './compare-view.js';
import { compareChartsStyles } from './compare-charts-styles.js';
import { renderMetricChoices } from './metric-choices.js';
import { axisOf, haveEpochs, placesOf, stepsInView, stepsWithin } from './run-axes.js';
import { RunEpochs } from './run-epochs.js';
import { toShortName } from '../run-names.js';
import type { ShownRun } from './shown-run.js';

/** By the names in the address. */
export interface ChartsChange {
  readonly changes: ViewChanges & { readonly steps?: string | null };
  readonly way: AddressWay;
}

/** Of more lines the table above the charts is the legend. */
const MOST_IN_LEGEND = 3;

/** A chart for each metric with a line for each run. Fires `svc-view` with a ChartsChange and `svc-metrics` with the names that are chosen. */
@customElement('svc-compare-charts')
export class SvcCompareCharts extends LitElement {
  @property({ attribute: false }) view!: CompareView;
  /** Those that are drawn. */
  @property({ attribute: false }) runs: readonly ShownRun[] = [];
  /** All that can be chosen. */
  @property({ attribute: false }) metrics: readonly ComparedMetric[] = [];
  /** Of the metrics that are chosen; null until the first answer. */
  @property({ attribute: false }) points: ReadonlyMap<string, ComparedPoints | null> = new Map();
  readonly #epochs = new RunEpochs();
  /** Of each chart: the same array until something in it is another. */
  readonly #lines = new Map<string, { key: readonly unknown[]; lines: readonly ChartLine[] }>();

  static override styles = [baseStyles, controlStyles, chartGridStyles, compareChartsStyles];

  override render() {
    return html`<svc-chart-controls
        time="elapsed"
        .view=${this.view.charts}
        .lastStep=${Math.max(0, ...this.runs.map(({ run }) => run.step ?? 0))}
        .rangeBy=${this.#rangeBy}
        ?epochs=${haveEpochs(this.runs)}
        @svc-view=${this.#onView}
        >${renderMetricChoices(this.metrics, this.#chosen, (name) => this.#toggleMetric(name))}</svc-chart-controls
      >
      ${this.#renderCharts()}`;
  }

  get #chosen(): readonly ComparedMetric[] {
    return this.metrics.filter(({ name }) => this.points.has(name));
  }

  #renderCharts() {
    if (this.metrics.length === 0)
      return html`<p class="none">None of these runs has logged a metric yet.</p>`;
    if (this.points.size === 0)
      return html`<p class="none">No metric is chosen. Choose some under “Metrics”.</p>`;
    return html`<div class="grid">
      ${repeat(
        this.#chosen,
        ({ name }) => name,
        ({ name }) => this.#renderChart(name),
      )}
    </div>`;
  }

  #renderChart(name: string) {
    const { isLog, smoothing, range, full } = this.view.charts;
    const points = this.points.get(name);
    const lines = this.#linesOf(name);
    return html`<svc-chart
      heading=${name}
      note=${lines.length > MOST_IN_LEGEND ? plural(lines.length, 'run') : ''}
      .lines=${lines}
      ?log=${isLog}
      .smoothing=${smoothing}
      .range=${range}
      .x=${this.#x}
      empty=${points ? 'None of the runs shown has this metric' : 'Loading…'}
      failure=${points?.error?.message ?? ''}
      syncKey="compare"
      ?full=${full === name}
      @svc-zoom=${this.#onZoom}
      @svc-full=${({ detail: isFull }: CustomEvent<boolean>) =>
        this.#change({ chart: isFull ? name : null }, isFull ? 'push' : 'replace')}
    ></svc-chart>`;
  }

  get #x(): XKind {
    return axisOf(this.view, this.runs);
  }

  /** Of the runs with points; by epoch, of those whose epochs are known. While nothing has changed it is the same array, so that the chart is not drawn anew. */
  #linesOf(metric: string, axis = this.#x): readonly ChartLine[] {
    const points = this.points.get(metric);
    const epochs = this.runs.map((run) => (axis === 'epoch' ? this.#epochsOf(run) : null));
    const key = [
      axis === 'epoch',
      points,
      ...epochs,
      ...this.runs.flatMap(({ label, own, color }) => [label, own, color]),
    ];
    const held = this.#lines.get(metric);
    if (held && held.key.length === key.length && held.key.every((part, at) => part === key[at]))
      return held.lines;
    const lines = this.runs.flatMap((run, at): ChartLine[] => {
      const series = points?.seriesOf.get(run.id);
      const epochAt = epochs[at] ?? null;
      if (!series || series.steps.length === 0 || (axis === 'epoch' && epochAt === null)) return [];
      const { id, label, color } = run;
      const startedAt = run.run.started_at;
      return [{ key: id, name: label, label: toShortName(run), color, series, epochAt, startedAt }];
    });
    this.#lines.set(metric, { key, lines });
    return lines;
  }

  #epochsOf(run: ShownRun) {
    const series = [...this.points].flatMap(([name, points]) => {
      const own = points?.seriesOf.get(run.id);
      return own ? [[name, own] as const] : [];
    });
    return this.#epochs.of(run, new Map(series), this.view.charts.range === null);
  }

  #allLines(axis: XKind): ChartLine[] {
    return this.#chosen.flatMap(({ name }) => this.#linesOf(name, axis));
  }

  /** What is in view on another axis: that of the points in view. */
  readonly #rangeBy = (x: ChartView['x']): Range | null => {
    const steps = stepsInView(this.view, this.#x);
    if (steps === null || x === 'step') return steps;
    const axis = x === 'time' ? 'elapsed' : x;
    return placesOf(this.#allLines(axis), axis, steps);
  };

  readonly #onZoom = (event: Event): void => {
    const range = (event as CustomEvent<Range | null>).detail;
    const axis = this.#x;
    const steps = range && axis !== 'step' ? stepsWithin(this.#allLines(axis), axis, range) : null;
    this.#change({ zoom: writeRange(range), steps: writeRange(steps) }, 'push');
  };

  /** With another axis come the steps that stay in view. */
  readonly #onView = (event: Event): void => {
    const { changes, way } = (event as CustomEvent<ChartsChange>).detail;
    const isByStep = changes.x === undefined || changes.x === null;
    const steps = isByStep || !changes.zoom ? null : writeRange(stepsInView(this.view, this.#x));
    this.#change('zoom' in changes ? { ...changes, steps } : changes, way);
  };

  #toggleMetric(name: string): void {
    const chosen = [...this.points.keys()];
    const detail = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    this.dispatchEvent(new CustomEvent('svc-metrics', { detail }));
  }

  #change(changes: ChartsChange['changes'], way: AddressWay): void {
    this.dispatchEvent(new CustomEvent<ChartsChange>('svc-view', { detail: { changes, way } }));
  }
}
