import { consume } from '@lit/context';
import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import type { Range } from '../chart/axis.js';
import '../chart/svc-chart.js';
import type { ChartLine } from '../chart/svc-chart.js';
import { Loader } from '../controllers/loader.js';
import type { Api } from '../data/api.js';
import { apiContext } from '../data/contexts.js';
import { findPlaceOfRun, type RunPlace } from '../data/node-of-run.js';
import { readNodeSeries, type NodeSeries } from '../data/nodes.js';
import { getRun, type Run } from '../data/runs.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { ChartFolds } from './chart-folds.js';
import { icon } from './icons.js';
import { chartGridStyles } from './run-charts-styles.js';
import { systemChartsOf, type SystemChart } from './system-charts.js';

const LIVE_POLL_MS = 10_000;
const SHOWN_SAMPLES = 600;
const FOLD = ' system';

interface Measured {
  readonly place: RunPlace;
  readonly charts: readonly SystemChart[];
  readonly series: Readonly<Record<string, NodeSeries>>;
}

/** What the node of a run and its slots measured while it ran, by time. Nothing for a run that is of no job. Fires `svc-zoom` and `svc-full` on. */
@customElement('svc-run-system')
export class SvcRunSystem extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @property() runId = '';
  @property({ type: Boolean }) live = false;
  /** In ms since the Unix epoch; null: the whole run. */
  @property({ attribute: false }) range: Range | null = null;
  @property() syncKey = '';
  /** The heading of the chart that fills the window. */
  @property({ attribute: false }) full: string | null = null;
  #found: Promise<{ run: Run; place: RunPlace | null }> | null = null;
  readonly #folds = new ChartFolds();

  readonly #measured = new Loader(this, { load: (signal) => this.#load(signal) });

  static override styles = [baseStyles, iconStyles, chartGridStyles];

  override willUpdate(changed: PropertyValues<this>): void {
    this.#measured.interval = this.live ? LIVE_POLL_MS : null;
    if (this.hasUpdated && (changed.has('range') || changed.has('live'))) this.#measured.refresh();
  }

  override render() {
    const measured = this.#measured.value;
    if (!measured) return nothing;
    const { node, slots } = measured.place;
    const isOpen = this.#folds.isOpen(FOLD) ?? true;
    const ofSlots =
      slots === null
        ? ', all slots'
        : slots.length === 0
          ? ''
          : `, slot${slots.length === 1 ? '' : 's'} ${slots.join(', ')}`;
    return html`<section>
      <h3>
        <button class="fold" aria-expanded=${isOpen ? 'true' : 'false'} @click=${() => this.#fold(!isOpen)}>
          ${icon(isOpen ? 'down' : 'right', 14)}System
          <span class="quiet"><bdi>${node.name}</bdi>${ofSlots}, by time</span>
        </button>
      </h3>
      ${isOpen ? this.#renderCharts(measured) : nothing}
    </section>`;
  }

  #renderCharts({ charts, series }: Measured) {
    if (charts.length === 0)
      return html`<p class="quiet">
        Nothing is stored of that time. Node metrics are kept for a day as measured, and for 30 days as means
        of a minute.
      </p>`;
    return html`<div class="grid">
      ${charts.map(
        ({ title, lines, limits }) =>
          html`<svc-chart
            heading=${title}
            x="time"
            .syncKey=${this.syncKey}
            .lines=${lines.map(({ name, label, scale }) => toLine(name, label, series[name]!, scale))}
            .revision=${series[lines[0]!.name]!.ts.at(-1) ?? 0}
            .range=${this.range}
            .limits=${limits}
            .full=${this.full === title}
            @svc-zoom=${this.#pass}
            @svc-full=${this.#pass}
          ></svc-chart>`,
      )}
    </div>`;
  }

  async #load(signal: AbortSignal): Promise<Measured | null> {
    this.#found ??= this.#find(signal);
    const { run, place } = await this.#found.catch((error: unknown) => {
      this.#found = null;
      throw error;
    });
    if (place === null) return null;
    const [from, to] = this.range ?? [
      run.started_at,
      this.live ? this.api.now() : (run.finished_at ?? this.api.now()),
    ];
    const charts = systemChartsOf(place);
    const names = charts.flatMap(({ lines }) => lines.map(({ name }) => name));
    const series = await readNodeSeries(
      this.api,
      place.node.id,
      { names, from, to, limit: SHOWN_SAMPLES },
      signal,
    );
    return { place, series, charts: withPoints(charts, series) };
  }

  async #find(signal: AbortSignal) {
    const run = await getRun(this.api, this.runId, signal);
    return { run, place: await findPlaceOfRun(this.api, run, signal) };
  }

  #fold(isOpen: boolean): void {
    this.#folds.set(FOLD, isOpen);
    this.requestUpdate();
  }

  /** These events do not bubble; the owner of the charts decides. */
  readonly #pass = (event: Event): void => {
    const { type, detail, target } = event as CustomEvent<unknown>;
    const { heading } = target as HTMLElement & { heading: string };
    this.dispatchEvent(
      new CustomEvent(type, { detail: type === 'svc-full' ? { heading, isFull: detail } : detail }),
    );
  };
}

/** Without the lines and charts of which nothing was measured. */
function withPoints(
  charts: readonly SystemChart[],
  series: Readonly<Record<string, NodeSeries>>,
): SystemChart[] {
  return charts
    .map((chart) => ({
      ...chart,
      lines: chart.lines.filter(({ name }) => (series[name]?.ts.length ?? 0) > 0),
    }))
    .filter(({ lines }) => lines.length > 0);
}

function toLine(name: string, label: string, { ts, values, total }: NodeSeries, scale: number): ChartLine {
  const scaled = scale === 1 ? values : values.map((value) => value * scale);
  return { name, label, series: { steps: ts, values: scaled, ts, total } };
}
