import { consume } from '@lit/context';
import type { MetricSummary, RunSummary } from '@svc/contract';
import { isDirectionKnown } from '@svc/contract/protocol';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Range, XKind } from '../chart/axis.js';
import {
  groupMetrics,
  orderGroups,
  toSections,
  type MetricGroup,
  type MetricSection,
  type Units,
} from '../chart/groups.js';
import '../chart/svc-chart.js';
import type { ChartLine, ChartMark, SvcChart } from '../chart/svc-chart.js';
import { Address, type AddressWay } from '../controllers/address.js';
import { LiveEvents } from '../controllers/live-events.js';
import { Loader } from '../controllers/loader.js';
import { RunMetrics } from '../controllers/run-metrics.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { listEvents } from '../data/events.js';
import { readUnits } from '../data/metric-definitions.js';
import { canExport, exportPoints } from '../data/runs.js';
import { formatCount, plural } from '../format.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, controlStyles } from '../styles/shared.js';
import { ChartFolds } from './chart-folds.js';
import { marksOf } from './chart-marks.js';
import { readView, writeRange, type ChartView, type ViewChanges } from './chart-view.js';
import { icon } from './icons.js';
import { chartGridStyles, runChartsStyles } from './run-charts-styles.js';
import './svc-chart-controls.js';
import './svc-run-system.js';

/** So many charts of a section are shown at first, and sections with so many together are open at first. */
const FIRST_CHARTS = 48;
const SHOWN_EVENTS = 200;
const UNITS_MS = 60_000;

/**
 * The curves of a run, one chart per measure, in sections by prefix, with one zoom, smoothing, scale and x axis for all, which the address
 * keeps. Under them what its node measured.
 */
@customElement('svc-run-charts')
export class SvcRunCharts extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() runId = '';
  @property({ attribute: false }) summary: RunSummary | null = null;
  /** Points may come yet. */
  @property({ type: Boolean }) live = false;
  /** Nobody has heard of it for a while. */
  @property({ type: Boolean }) lost = false;

  readonly #address = new Address(this);
  readonly #folds = new ChartFolds();
  /** Sections of which all charts are asked for. */
  readonly #whole = new Set<string>();
  #sections: MetricSection[] = [];
  #arrangedBy: Units | undefined;
  /** The point that was brought into view. */
  #shownPoint = '';
  readonly #metrics = new RunMetrics(
    this,
    () => this.api,
    () => this.runId,
  );
  readonly #units = new Loader(this, {
    load: (signal) => readUnits(this.api, this.runId, signal),
    everyMs: UNITS_MS,
  });
  readonly #events = new Loader(this, {
    load: (signal) => listEvents(this.api, { run_id: this.runId, limit: SHOWN_EVENTS }, signal),
  });

  static override styles = [baseStyles, controlStyles, iconStyles, runChartsStyles, chartGridStyles];

  constructor() {
    super();
    new LiveEvents(this, (events) => {
      if (events.some((event) => event.run_id === this.runId)) this.#events.refresh();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (this.summary === null) return;
    const { metrics } = this.summary;
    const units = this.#units.value;
    if (changed.has('summary') || units !== this.#arrangedBy) {
      this.#arrangedBy = units;
      const isPrimary = (name: string): boolean => metrics[name]!.is_primary;
      const groups = groupMetrics(Object.keys(metrics), units);
      this.#sections = toSections(orderGroups(groups, isPrimary), isPrimary);
    }
    this.#metrics.watch(
      this.#openSections.flatMap((section) => this.#shownOf(section).flatMap(({ names }) => names)),
      this.live,
    );
    this.#followZoom();
    if (changed.has('summary')) void this.#metrics.check(metrics, this.summary);
  }

  override updated(): void {
    this.#showPoint();
  }

  override render() {
    if (this.#sections.length === 0) return nothing;
    const { error } = this.#metrics;
    const matching = this.#matching;
    const { search } = this.#view;
    return html`
      ${this.#renderControls()}
      ${error ? html`<p class="problem" role="status">The points could not be loaded. ${error.message}</p>` : nothing}
      ${repeat(
        matching,
        ({ title }) => title,
        (section) => this.#renderSection(section),
      )}
      ${matching.length === 0 ? html`<p class="quiet">No metric’s name contains “${search}”.</p>` : nothing}
      <svc-run-system
        .runId=${this.runId}
        ?live=${this.live}
        .range=${this.#timeRange}
        .syncKey=${this.#view.x === 'time' ? this.runId : `${this.runId} system`}
        .full=${this.#view.full}
        @svc-zoom=${this.#onSystemZoom}
        @svc-full=${(event: CustomEvent<{ heading: string; isFull: boolean }>) => this.#setFull(event.detail)}
      ></svc-run-system>
    `;
  }

  get #view(): ChartView {
    return readView(this.#address);
  }

  #renderControls() {
    const { streamState, epochAt, lastStep } = this.#metrics;
    return html`<svc-chart-controls
      .view=${this.#view}
      .count=${this.#sections.reduce((sum, { groups }) => sum + groups.length, 0)}
      .lastStep=${lastStep}
      .rangeBy=${this.#rangeBy}
      ?epochs=${epochAt !== null}
      .stream=${this.live && !this.lost ? (streamState === 'live' ? 'live' : 'connecting') : ''}
      @svc-view=${this.#onView}
    ></svc-chart-controls>`;
  }

  #renderSection(section: MetricSection) {
    const { title, groups } = section;
    const isOpen = this.#isOpen(section);
    const shown = isOpen ? this.#shownOf(section) : [];
    return html`<section>
      ${
        this.#sections.length === 1 && title === ''
          ? nothing
          : html`<h3>
              <button
                class="fold"
                aria-expanded=${isOpen ? 'true' : 'false'}
                @click=${() => this.#fold(title, !isOpen)}
              >
                ${icon(isOpen ? 'down' : 'right', 14)}<bdi>${title || 'Main'}</bdi>
                <span class="quiet">${plural(groups.length, 'chart')}</span>
              </button>
            </h3>`
      }
      <div class="grid">
        ${repeat(
          shown,
          (group) => group.title,
          (group) => this.#renderChart(group),
        )}
      </div>
      ${
        isOpen && shown.length < groups.length
          ? html`<p class="more">
              <button class="button" @click=${() => this.#showWhole(title)}>
                Show all ${formatCount(groups.length)} charts
              </button>
            </p>`
          : nothing
      }
    </section>`;
  }

  #renderChart({ title, names }: MetricGroup) {
    const metrics = this.#metrics;
    const { range, smoothing, isLog, full } = this.#view;
    return html`<svc-chart
      heading=${title}
      syncKey=${this.runId}
      .lines=${names.map((name) => this.#toLine(name))}
      .revision=${metrics.revision}
      .range=${range}
      .smoothing=${smoothing}
      .x=${this.#x}
      .marks=${this.#marksFor(names)}
      .exportAll=${canExport(names) ? () => exportPoints(this.api, this.runId, names) : null}
      ?log=${isLog}
      .full=${full === title}
      @svc-zoom=${this.#onZoom}
      @svc-full=${this.#onFull}
    ></svc-chart>`;
  }

  #toLine(name: string): ChartLine {
    const metric = this.summary!.metrics[name]!;
    return {
      name,
      series: this.#metrics.series(name),
      latest: this.#metrics.latest(name, metric),
      best: bestOf(metric),
      unit: this.#units.value?.get(name),
      epochAt: this.#x === 'epoch' ? this.#metrics.epochAt : null,
    };
  }

  /** By epoch only where epochs are known. */
  get #x(): XKind {
    const { x } = this.#view;
    return x === 'epoch' && this.#metrics.epochAt === null ? 'step' : x;
  }

  get #matching(): MetricSection[] {
    const needle = this.#view.search.toLowerCase();
    if (needle === '') return this.#sections;
    const isWanted = ({ title, names }: MetricGroup): boolean =>
      [title, ...names].some((name) => name.toLowerCase().includes(needle));
    return this.#sections
      .map(({ title, groups }) => ({ title, groups: groups.filter(isWanted) }))
      .filter(({ groups }) => groups.length > 0);
  }

  get #openSections(): MetricSection[] {
    return this.#matching.filter((section) => this.#isOpen(section));
  }

  /** As somebody chose; what the address leads to in any case; else the first sections, until they have many charts together. */
  #isOpen({ title, groups }: MetricSection): boolean {
    const { full, point, search } = this.#view;
    if (search !== '') return true;
    if (groups.some((group) => group.title === full || group.names.includes(point?.metric ?? '')))
      return true;
    const before = this.#sections.slice(
      0,
      this.#sections.findIndex((each) => each.title === title),
    );
    return (
      this.#folds.isOpen(title) ?? before.reduce((sum, each) => sum + each.groups.length, 0) < FIRST_CHARTS
    );
  }

  #shownOf({ title, groups }: MetricSection): MetricGroup[] {
    const { full, point } = this.#view;
    if (this.#whole.has(title)) return groups;
    return groups.filter(
      (group, at) => at < FIRST_CHARTS || group.title === full || group.names.includes(point?.metric ?? ''),
    );
  }

  #fold(title: string, isOpen: boolean): void {
    this.#folds.set(title, isOpen);
    this.#address.set({ metric: null, step: null });
  }

  #showWhole(title: string): void {
    this.#whole.add(title);
    this.requestUpdate();
  }

  #marksFor(names: readonly string[]): readonly ChartMark[] {
    return marksOf(this.#events.value ?? [], this.#view.point, names);
  }

  /** Brings the chart of the point in the address into view, once. */
  #showPoint(): void {
    const { point } = this.#view;
    const key = JSON.stringify(point);
    if (point === null || key === this.#shownPoint) return;
    const charts = [...this.renderRoot.querySelectorAll<SvcChart>('svc-chart')];
    const chart = charts.find(({ lines }) => lines.some(({ name }) => name === point.metric));
    if (!chart) return;
    this.#shownPoint = key;
    chart.scrollIntoView({ block: 'center' });
  }

  /** Points in full resolution for what is in view, which the server knows by steps. */
  #followZoom(): void {
    const { range } = this.#view;
    const steps = range && this.#toSteps(range);
    const held = this.#metrics.range;
    if (steps?.[0] === held?.[0] && steps?.[1] === held?.[1]) return;
    void this.#metrics.zoom(steps);
  }

  #toSteps([from, to]: Range): Range | null {
    const x = this.#x;
    if (x === 'step') return [Math.floor(from), Math.ceil(to)];
    if (x === 'time') return this.#metrics.stepsWithin(from, to);
    return this.#metrics.stepsOfEpochs(from, to);
  }

  get #timeRange(): Range | null {
    return this.#rangeBy('time');
  }

  /** What is in view on another axis: that of the points in view. */
  readonly #rangeBy = (x: ChartView['x']): Range | null => {
    const { range } = this.#view;
    if (range === null || x === this.#x) return range;
    const steps = this.#toSteps(range);
    return steps && this.#fromSteps(steps, x);
  };

  #fromSteps(steps: Range, x: XKind): Range | null {
    if (x === 'step') return steps;
    if (x === 'time') return this.#metrics.timesWithin(...steps);
    const { epochAt } = this.#metrics;
    return epochAt && [epochAt(steps[0]), epochAt(steps[1])];
  }

  #zoom(range: Range | null): void {
    this.#address.set({ zoom: writeRange(range) }, 'push');
  }

  readonly #onZoom = (event: Event): void => this.#zoom((event as CustomEvent<Range | null>).detail);

  /** Of the system's charts, which are by time. */
  readonly #onSystemZoom = (event: Event): void => {
    const times = (event as CustomEvent<Range | null>).detail;
    if (times === null || this.#x === 'time') return this.#zoom(times);
    const steps = this.#metrics.stepsWithin(...times);
    if (steps === null || steps[0] === steps[1]) return;
    this.#zoom(this.#fromSteps(steps, this.#x));
  };

  readonly #onFull = (event: Event): void => {
    const { heading } = event.target as SvcChart;
    this.#setFull({ heading, isFull: (event as CustomEvent<boolean>).detail });
  };

  #setFull({ heading, isFull }: { heading: string; isFull: boolean }): void {
    this.#address.set({ chart: isFull ? heading : null }, isFull ? 'push' : 'replace');
  }

  readonly #onView = (event: Event): void => {
    const { changes, way } = (event as CustomEvent<{ changes: ViewChanges; way: AddressWay }>).detail;
    this.#address.set(changes, way);
  };
}

/** Only where somebody knows which values are good. */
function bestOf(metric: MetricSummary): { step: number; value: number } | null {
  if (!isDirectionKnown(metric) || metric.best === null) return null;
  const { step, value } = metric.best;
  return typeof value === 'number' ? { step, value } : null;
}
