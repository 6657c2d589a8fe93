import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import uPlot from 'uplot';
import { formatClock, formatDateTime } from '../format.js';
import { baseStyles } from '../styles/shared.js';
import { onThemeChange } from '../styles/theme.js';
import { chartStyles } from './chart-styles.js';
import { resolveColors } from './palette.js';
import { alignByTime, nearestSample, type TimeSeries } from './time-align.js';

export interface NodeChartLine {
  readonly name: string;
  readonly series: TimeSeries;
}

const COLORS = 8;
const TOOLTIP_AWAY_PX = 14;
const DAY_MS = 86_400_000;
const POWERS_OF_TWO = Array.from({ length: 40 }, (_, power) => 2 ** power);

/** Figures of a host over time, all charts of a page with the same range and one cursor. */
@customElement('svc-node-chart')
export class SvcNodeChart extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) lines: readonly NodeChartLine[] = [];
  /** Of the x axis, in milliseconds. */
  @property({ attribute: false }) range: readonly [number, number] = [0, 1];
  /** The top of the y axis where it is known, such as 100 %; null: that of the data. */
  @property({ type: Number }) top: number | null = null;
  @property({ attribute: false }) format: (value: number) => string = String;
  /** Steps of the y axis are powers of two, as of memory. */
  @property({ type: Boolean }) binary = false;
  @property() syncKey = '';
  @state() private cursorAt: number | null = null;
  @state() private cursorLeft = 0;
  @state() private isHovered = false;
  @query('.plot') private readonly target!: HTMLElement;

  #plot: uPlot | null = null;
  #plotOf = '';
  #aligned = alignByTime([]);
  #isInSight = false;
  #forgetTheme: (() => void) | null = null;
  readonly #sizes = new ResizeObserver(() => this.#resize());
  readonly #sight = new IntersectionObserver(
    ([entry]) => {
      this.#isInSight = entry?.isIntersecting ?? false;
      this.#draw();
    },
    { rootMargin: '200px' },
  );

  static override styles = [
    baseStyles,
    chartStyles,
    css`
      figcaption {
        display: block;
        min-height: 0;
        padding: var(--space-3) var(--space-4) 0;
      }
      h3 {
        display: inline;
      }
      .legend {
        max-height: none;
        margin: var(--space-1) 0 0 -0.375rem;
        overflow: visible;
      }
      .entry:only-child .value {
        min-width: 0;
      }
      .entry {
        display: inline-flex;
        align-items: center;
        gap: 0.375rem;
        max-width: 100%;
        min-height: 1.5rem;
        padding: 0 0.375rem;
        color: var(--color-text-2);
        font-size: var(--text-xs);
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sight.observe(this);
    this.#forgetTheme = onThemeChange(() => this.#redraw());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sight.disconnect();
    this.#sizes.disconnect();
    this.#forgetTheme?.();
    this.#destroy();
  }

  override firstUpdated(): void {
    this.#sizes.observe(this.target);
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('lines') || changed.has('range') || changed.has('top')) this.#draw();
  }

  override render() {
    return html`<figure aria-label=${this.#describe()}>
      <figcaption>
        <h3>${this.heading}</h3>
        ${this.cursorAt === null ? nothing : html`<span class="step">${formatClock(this.cursorAt)}</span>`}
        <div class="legend">${this.lines.map((line, at) => this.#renderLegend(line, at))}</div>
      </figcaption>
      <div
        class="plot"
        @mouseenter=${() => (this.isHovered = true)}
        @mouseleave=${() => (this.isHovered = false)}
      >
        ${this.isHovered ? this.#renderTooltip() : nothing}
      </div>
    </figure>`;
  }

  /** Of one line the heading says the name. */
  #renderLegend({ name, series }: NodeChartLine, at: number) {
    const value = this.#valueAtCursor(at) ?? series.values.at(-1);
    return html`<span class="entry" title=${name}>
      ${this.lines.length === 1 ? nothing : html`<span class="swatch" .style=${swatch(at)}></span><span class="label">${name}</span>`}
      <span class="value">${value === undefined ? '–' : this.format(value)}</span>
    </span>`;
  }

  #renderTooltip() {
    if (this.cursorAt === null) return nothing;
    const width = this.target.clientWidth;
    const side =
      this.cursorLeft > width / 2
        ? `right: ${width - this.cursorLeft + TOOLTIP_AWAY_PX}px`
        : `left: ${this.cursorLeft + TOOLTIP_AWAY_PX}px`;
    return html`<div class="tooltip" .style=${side}>
      <table>
        <caption>
          ${formatDateTime(this.cursorAt)}
        </caption>
        ${this.lines.map(({ name }, at) => {
          const value = this.#valueAtCursor(at);
          if (value === undefined) return nothing;
          return html`<tr>
            <th scope="row"><span class="swatch" .style=${swatch(at)}></span>${name}</th>
            <td>${this.format(value)}</td>
          </tr>`;
        })}
      </table>
    </div>`;
  }

  #valueAtCursor(line: number): number | undefined {
    const column = this.#aligned.columns[line];
    if (this.cursorAt === null || !column) return undefined;
    const row = nearestSample(this.#aligned.ts, column, this.cursorAt);
    return row === null ? undefined : (column[row] as number);
  }

  #describe(): string {
    const parts = this.lines.map(({ name, series }) => {
      const last = series.values.at(-1);
      return `${name}: ${last === undefined ? 'nothing measured' : this.format(last)}`;
    });
    return `Chart of ${this.heading}. ${parts.join('; ')}`;
  }

  #draw(): void {
    if (!this.hasUpdated || !this.#isInSight || this.target.clientWidth === 0) return;
    this.#aligned = alignByTime(this.lines.map(({ series }) => series));
    const key = `${this.lines.length} ${this.top}`;
    if (!this.#plot || key !== this.#plotOf) this.#build(key);
    else this.#plot.setData(this.#data());
  }

  #build(key: string): void {
    this.#destroy();
    this.#plotOf = key;
    this.#plot = new uPlot(this.#options(), this.#data(), this.target);
  }

  #redraw(): void {
    this.#destroy();
    this.#draw();
  }

  #destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
  }

  #resize(): void {
    if (this.#plot && this.target.clientWidth > 0) this.#plot.setSize(this.#size());
    else this.#draw();
  }

  #size() {
    return { width: this.target.clientWidth - 8, height: Math.max(140, this.target.clientHeight - 4) };
  }

  #data(): uPlot.AlignedData {
    return [this.#aligned.ts, ...this.#aligned.columns] as uPlot.AlignedData;
  }

  #options(): uPlot.Options {
    const colors = resolveColors(
      this,
      this.lines.map((_, at) => `var(--chart-${(at % COLORS) + 1})`),
    );
    const axis = {
      stroke: colors.axis,
      grid: { stroke: colors.grid, width: 1 },
      ticks: { show: false },
      font: `11px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif`,
      gap: 6,
    };
    return {
      ...this.#size(),
      ms: 1,
      legend: { show: false },
      padding: [10, 20, 0, 0],
      scales: {
        x: { time: true, range: () => [...this.range] as [number, number] },
        y: { range: (_, __, max) => [0, this.#highest(max ?? 0)] },
      },
      axes: [
        { ...axis, size: 26, space: 80, values: (_, splits) => this.#labelTimes(splits) },
        {
          ...axis,
          size: 68,
          space: 36,
          ...(this.binary && { incrs: POWERS_OF_TWO }),
          values: (_, splits) => splits.map((value) => this.format(value)),
        },
      ],
      series: [
        {},
        ...this.lines.map((_, at): uPlot.Series => ({
          stroke: colors.series[at]!,
          width: 1.5,
          points: { show: false },
        })),
      ],
      cursor: {
        y: false,
        points: { size: 7, width: 2, stroke: colors.surface },
        drag: { x: false, y: false },
        sync: { key: this.syncKey, setSeries: false },
        focus: { prox: -1 },
      },
      hooks: { setCursor: [(plot) => this.#onCursor(plot)] },
    };
  }

  #highest(max: number): number {
    return Math.max(this.top ?? max * 1.08, max) || 1;
  }

  /** The clock, and beyond a day the date too. */
  #labelTimes(splits: readonly number[]): string[] {
    const isLong = this.range[1] - this.range[0] > 1.5 * DAY_MS;
    const options: Intl.DateTimeFormatOptions = isLong
      ? { month: 'short', day: 'numeric' }
      : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
    const label = new Intl.DateTimeFormat(undefined, options);
    return splits.map((at) => label.format(at));
  }

  #onCursor(plot: uPlot): void {
    const left = plot.cursor.left ?? -1;
    this.cursorAt = left < 0 ? null : plot.posToVal(left, 'x');
    this.cursorLeft = left + plot.bbox.left / window.devicePixelRatio;
  }
}

function swatch(line: number): string {
  return `--swatch: var(--chart-${(line % COLORS) + 1})`;
}
