import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { nearestRow } from '../chart/align.js';
import { chartStyles } from '../chart/chart-styles.js';
import { toPlotLine } from '../chart/chart-lines.js';
import { resolveColors } from '../chart/palette.js';
import { Plot, type PlotLine } from '../chart/plot.js';
import type { MetricSeries } from '../chart/series-store.js';
import type { Direction } from '../data/metric-definitions.js';
import { formatCount, formatValue, plural } from '../format.js';
import { baseStyles } from '../styles/shared.js';
import { onThemeChange } from '../styles/theme.js';
import { resolveRunColors } from './run-colors.js';

/** One metric of one run. */
export interface RunLine {
  readonly id: string;
  readonly label: string;
  readonly color: string;
  readonly series: MetricSeries;
}

interface ValueAtCursor extends RunLine {
  readonly value: number;
  readonly step: number;
}

const MOST_IN_TOOLTIP = 10;
const AWAY_PX = 14;

/** A metric of up to 50 runs over steps. The table of the runs is its legend. Fires `svc-zoom` with `[from, to]` or null. */
@customElement('svc-compare-chart')
export class SvcCompareChart extends LitElement {
  @property() metric = '';
  /** null: unknown; the tooltip then has the highest values first. */
  @property({ attribute: false }) direction: Direction | null = null;
  /** Another array whenever something in it is another. */
  @property({ attribute: false }) lines: readonly RunLine[] = [];
  @property({ type: Boolean }) log = false;
  @property({ type: Number }) smoothing = 0;
  @property({ attribute: false }) range: readonly [number, number] | null = null;
  @property({ type: Boolean }) loading = false;
  @property() problem = '';
  @state() private cursorRow: number | null = null;
  @state() private cursorLeft = 0;
  @state() private isHovered = false;
  @query('.plot') private readonly target!: HTMLElement;

  #plot: Plot | null = null;
  #frame = 0;
  #isInSight = false;
  #forgetTheme: (() => void) | null = null;
  readonly #sizes = new ResizeObserver(() => this.#resize());
  readonly #sight = new IntersectionObserver(([entry]) => this.#onSight(entry?.isIntersecting ?? false), {
    rootMargin: '200px',
  });

  static override styles = [
    baseStyles,
    chartStyles,
    css`
      :host {
        height: 17rem;
        border: 1px solid var(--color-line);
        border-radius: var(--radius-lg);
        background: var(--color-surface);
      }
      .count {
        margin-left: auto;
        color: var(--color-text-3);
        font-size: var(--text-xs);
      }
      .tooltip caption {
        white-space: normal;
      }
      .problem {
        color: var(--color-danger);
        padding: 0 var(--space-4);
        text-align: center;
        overflow-wrap: anywhere;
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sight.observe(this);
    this.#forgetTheme = onThemeChange(() => this.#invalidate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sight.disconnect();
    this.#sizes.disconnect();
    this.#forgetTheme?.();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#destroy();
  }

  override firstUpdated(): void {
    this.#sizes.observe(this.target);
  }

  override updated(changed: PropertyValues<this>): void {
    const isDrawn = ['lines', 'log', 'smoothing', 'range'] as const;
    if (isDrawn.some((name) => changed.has(name))) this.#invalidate();
  }

  override render() {
    const drawn = this.#drawn;
    return html`<figure aria-label=${this.#describe(drawn)}>
      <figcaption>
        <h3>${this.metric}</h3>
        <span class="count">${plural(drawn.length, 'run')}</span>
      </figcaption>
      <div
        class="plot"
        @mouseenter=${() => (this.isHovered = true)}
        @mouseleave=${() => (this.isHovered = false)}
      >
        ${this.#renderState(drawn)} ${this.isHovered ? this.#renderTooltip(drawn) : nothing}
      </div>
    </figure>`;
  }

  #renderState(drawn: readonly RunLine[]) {
    if (this.problem !== '') return html`<p class="empty problem">${this.problem}</p>`;
    if (drawn.length > 0) return nothing;
    if (this.loading) return html`<p class="empty">Loading…</p>`;
    return html`<p class="empty">
      ${this.range ? 'No points in this range' : 'None of the runs shown has this metric'}
    </p>`;
  }

  #renderTooltip(drawn: readonly RunLine[]) {
    const step = this.cursorRow === null ? undefined : this.#plot?.aligned.xs[this.cursorRow];
    if (step === undefined) return nothing;
    const values = this.#valuesAtCursor(drawn);
    const width = this.target.clientWidth;
    const isRight = this.cursorLeft > width / 2;
    const side = isRight
      ? `right: ${width - this.cursorLeft + AWAY_PX}px`
      : `left: ${this.cursorLeft + AWAY_PX}px`;
    const rest = values.length - MOST_IN_TOOLTIP;
    return html`<div class="tooltip" .style=${side}>
      <table>
        <caption>
          Step ${formatCount(step)}${rest > 0 ? `, first ${MOST_IN_TOOLTIP} of ${values.length} runs` : ''}
        </caption>
        ${values.slice(0, MOST_IN_TOOLTIP).map((one) => renderValue(one, step))}
      </table>
    </div>`;
  }

  /** The best first; what is no number last. */
  #valuesAtCursor(drawn: readonly RunLine[]): ValueAtCursor[] {
    const { aligned } = this.#plot!;
    const found = drawn.flatMap((line, at) => {
      const column = aligned.measured[at] ?? [];
      const row = nearestRow(column, this.cursorRow!);
      return row === null ? [] : [{ ...line, value: column[row]!, step: aligned.xs[row]! }];
    });
    const sign = this.direction === 'minimize' ? 1 : -1;
    const keyOf = ({ value }: ValueAtCursor) => (Number.isNaN(value) ? Infinity : value * sign);
    return found.sort((a, b) => keyOf(a) - keyOf(b));
  }

  get #drawn(): RunLine[] {
    return this.lines.filter(({ series }) => series.steps.length > 0);
  }

  #describe(drawn: readonly RunLine[]): string {
    const last = drawn.map(({ label, series }) => `${label}: ${formatValue(series.values.at(-1)!)}`);
    return `Chart of ${this.metric} for ${plural(drawn.length, 'run')}. ${last.slice(0, MOST_IN_TOOLTIP).join('; ')}`;
  }

  #onSight(isInSight: boolean): void {
    this.#isInSight = isInSight;
    if (isInSight && !this.#plot) this.#invalidate();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.target;
    if (this.#plot && width > 0) this.#plot.resize({ width: width - 8, height: height - 4 });
    else this.#invalidate();
  }

  /** Drawn once per frame, and only while it is in sight. */
  #invalidate(): void {
    if (!this.#isInSight) return this.#destroy();
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
  }

  #draw(): void {
    this.#frame = 0;
    this.#destroy();
    const { clientWidth: width, clientHeight: height } = this.target;
    const drawn = this.#drawn;
    if (width === 0 || drawn.length === 0) return;
    const colors = resolveRunColors(
      this,
      drawn.map(({ color }) => color),
    );
    this.#plot = new Plot(
      this.target,
      {
        lines: drawn.map(({ id, series }) => toLine(id, series)),
        marks: [],
        xKind: 'step',
        limits: {},
        colors: { ...resolveColors(this, []), series: colors },
        isLog: this.log,
        smoothing: this.smoothing,
        range: this.range,
        syncKey: 'compare',
        onSelect: (from, to) => this.#zoom([from, to]),
        onReset: () => this.#zoom(null),
        onCursor: (row, left) => this.#onCursor(row, left),
      },
      { width: width - 8, height: height - 4 },
    );
  }

  #onCursor(row: number | null, left: number): void {
    this.cursorRow = left < 0 ? null : row;
    this.cursorLeft = left + (this.#plot?.left ?? 0);
  }

  #zoom(range: [number, number] | null): void {
    this.dispatchEvent(new CustomEvent('svc-zoom', { detail: range }));
  }
}

/** Without the band of a thinned line: 50 of them would cover each other. */
function toLine(name: string, series: MetricSeries): PlotLine {
  return { ...toPlotLine({ name, series }, { kind: 'step', epochAt: null }), isThinned: false };
}

function renderValue({ label, color, value, step }: ValueAtCursor, cursorStep: number) {
  return html`<tr>
    <th scope="row"><span class="swatch" .style=${`--swatch: ${color}`}></span>${label}</th>
    <td>
      ${step === cursorStep ? nothing : html`<span class="at">at ${formatCount(step)} </span>`}
      ${formatValue(value)}
    </td>
  </tr>`;
}
