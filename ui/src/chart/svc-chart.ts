import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { formatCount, formatValue } from '../format.js';
import { baseStyles } from '../styles/shared.js';
import { onThemeChange } from '../styles/theme.js';
import { countUndrawable, describeUndrawable, nearestRow } from './align.js';
import { chartStyles } from './chart-styles.js';
import { assignColors, measureOf, phaseOf } from './groups.js';
import { resolveColors } from './palette.js';
import { Plot } from './plot.js';
import type { MetricSeries } from './series-store.js';

export interface ChartLine {
  name: string;
  series: MetricSeries;
}

const TOOLTIP_AWAY_PX = 14;

/**
 * Metrics over steps. The owner adds points to the series in place and raises `revision`; the chart draws at most once
 * per animation frame, and only while it is in sight. Fires `svc-zoom` with `[from, to]` or null.
 */
@customElement('svc-chart')
export class SvcChart extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) lines: readonly ChartLine[] = [];
  @property({ type: Number }) revision = 0;
  @property({ type: Boolean }) log = false;
  @property({ type: Number }) smoothing = 0;
  @property({ attribute: false }) range: readonly [number, number] | null = null;
  @property() syncKey = '';
  @state() private cursorRow: number | null = null;
  @state() private cursorLeft = 0;
  @state() private isHovered = false;
  @state() private muted = new Set<string>();
  @query('.plot') private readonly target!: HTMLElement;

  #plot: Plot | null = null;
  #plotOf = '';
  #frame = 0;
  #isInSight = false;
  #isDirty = true;
  #forgetTheme: (() => void) | null = null;
  readonly #sizes = new ResizeObserver(() => this.#resize());
  readonly #sight = new IntersectionObserver(([entry]) => this.#onSight(entry?.isIntersecting ?? false), {
    rootMargin: '200px',
  });

  static override styles = [baseStyles, chartStyles];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sight.observe(this);
    this.#forgetTheme = onThemeChange(() => {
      this.#plotOf = '';
      this.#invalidate();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sight.disconnect();
    this.#sizes.disconnect();
    this.#forgetTheme?.();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#plot?.destroy();
    this.#plot = null;
    this.#plotOf = '';
  }

  override firstUpdated(): void {
    this.#sizes.observe(this.target);
  }

  override updated(changed: PropertyValues<this>): void {
    const isDrawn = ['lines', 'revision', 'log', 'smoothing', 'range'] as const;
    if (isDrawn.some((name) => changed.has(name))) this.#invalidate();
  }

  override render() {
    const step = this.cursorRow === null ? null : (this.#plot?.aligned.steps[this.cursorRow] ?? null);
    const isEmpty = this.lines.every(({ series }) => series.steps.length === 0);
    return html`<figure aria-label=${this.#describe()}>
      <figcaption>
        <h3>${this.heading}</h3>
        ${step === null ? nothing : html`<span class="step">step ${formatCount(step)}</span>`}
        <div class="legend">${this.lines.map((line, at) => this.#renderLegend(line, at))}</div>
      </figcaption>
      <div
        class="plot"
        @mouseenter=${() => (this.isHovered = true)}
        @mouseleave=${() => (this.isHovered = false)}
      >
        ${isEmpty ? html`<p class="empty">${this.range ? 'No points in this range' : 'Waiting for the first point'}</p>` : nothing}
        ${this.isHovered ? this.#renderTooltip() : nothing}
      </div>
    </figure>`;
  }

  get #colors(): number[] {
    return assignColors(this.lines.map(({ name }) => name));
  }

  #renderLegend({ name, series }: ChartLine, at: number) {
    const note = describeUndrawable(countUndrawable(series.values, this.log));
    const value = this.#valueAtCursor(at) ?? series.values.at(-1);
    return html`<button
      title=${name}
      aria-pressed=${this.muted.has(name) ? 'false' : 'true'}
      @click=${() => this.#toggle(name, at)}
    >
      <span class="swatch" .style=${`--swatch: var(--chart-${this.#colors[at]})`}></span>
      <span class="label">${this.#labelOf(name)}</span>
      ${value === undefined ? nothing : html`<span class="value">${formatValue(value)}</span>`}
      ${note === '' ? nothing : html`<span class="odd">${note}</span>`}
    </button>`;
  }

  #renderTooltip() {
    const row = this.cursorRow;
    const step = row === null ? undefined : this.#plot?.aligned.steps[row];
    if (row === null || step === undefined) return nothing;
    const width = this.target.clientWidth;
    const x = this.cursorLeft + TOOLTIP_AWAY_PX;
    const side =
      this.cursorLeft > width / 2 ? `right: ${width - this.cursorLeft + TOOLTIP_AWAY_PX}px` : `left: ${x}px`;
    return html`<div class="tooltip" .style=${side}>
      <table>
        <caption>
          Step ${formatCount(step)}
        </caption>
        ${this.lines.map(({ name }, at) => this.#renderTooltipRow(name, at, row, step))}
      </table>
    </div>`;
  }

  #renderTooltipRow(name: string, at: number, row: number, step: number) {
    const column = this.#plot?.aligned.measured[at] ?? [];
    const nearest = nearestRow(column, row);
    if (nearest === null || this.muted.has(name)) return nothing;
    const nearestStep = this.#plot!.aligned.steps[nearest]!;
    return html`<tr>
      <th scope="row">
        <span class="swatch" .style=${`--swatch: var(--chart-${this.#colors[at]})`}></span
        >${this.#labelOf(name)}
      </th>
      <td>
        ${nearestStep === step ? nothing : html`<span class="at">at ${formatCount(nearestStep)} </span>`}
        ${formatValue(column[nearest]!)}
      </td>
    </tr>`;
  }

  #valueAtCursor(at: number): number | undefined {
    if (this.cursorRow === null) return undefined;
    const column = this.#plot?.aligned.measured[at];
    const nearest = column ? nearestRow(column, this.cursorRow) : null;
    return nearest === null ? undefined : column![nearest];
  }

  /** What tells the lines of this chart apart: the phase where the heading names the measure, else the whole name. */
  #labelOf(name: string): string {
    if (this.lines.length === 1) return name === this.heading ? 'latest' : name;
    const phase = phaseOf(name);
    return phase && measureOf(name) === this.heading
      ? name.slice(0, name.length - this.heading.length - 1)
      : name;
  }

  #describe(): string {
    const parts = this.lines.map(({ name, series }) => {
      const last = series.values.at(-1);
      return last === undefined
        ? `${name}: no points`
        : `${name}: ${formatValue(last)} at step ${series.steps.at(-1)}`;
    });
    return `Chart of ${this.heading}. ${parts.join('; ')}`;
  }

  #toggle(name: string, at: number): void {
    const muted = new Set(this.muted);
    if (!muted.delete(name)) muted.add(name);
    this.muted = muted;
    this.#plot?.show(at, !muted.has(name));
  }

  #onSight(isInSight: boolean): void {
    this.#isInSight = isInSight;
    if (isInSight && this.#isDirty) this.#invalidate();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.target;
    if (this.#plot && width > 0) this.#plot.resize(this.#size(width, height));
    else this.#invalidate();
  }

  #size(width = this.target.clientWidth, height = this.target.clientHeight) {
    return { width: width - 8, height: height - 4 };
  }

  #invalidate(): void {
    this.#isDirty = true;
    if (!this.#isInSight || !this.hasUpdated) return;
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    if (this.target.clientWidth === 0) return;
    this.#isDirty = false;
    const key = `${this.lines.map(({ name }) => name).join('\n')} ${this.log} ${this.smoothing}`;
    const lines = this.lines.map(({ series }) => series);
    if (this.#plot && key === this.#plotOf) this.#plot.update(lines, this.range);
    else this.#rebuild(key, lines);
  }

  #rebuild(key: string, lines: MetricSeries[]): void {
    this.#plot?.destroy();
    this.#plotOf = key;
    this.#plot = new Plot(
      this.target,
      {
        lines,
        colors: resolveColors(this, this.#colors),
        isLog: this.log,
        smoothing: this.smoothing,
        range: this.range,
        syncKey: this.syncKey,
        onSelect: (from, to) => this.#zoom([from, to]),
        onReset: () => this.#zoom(null),
        onCursor: (row, left) => this.#onCursor(row, left),
      },
      this.#size(),
    );
    this.lines.forEach(({ name }, at) => {
      if (this.muted.has(name)) this.#plot?.show(at, false);
    });
  }

  #onCursor(row: number | null, left: number): void {
    this.cursorRow = left < 0 ? null : row;
    this.cursorLeft = left + (this.#plot?.left ?? 0);
  }

  #zoom(range: [number, number] | null): void {
    this.dispatchEvent(new CustomEvent('svc-zoom', { detail: range }));
  }
}
