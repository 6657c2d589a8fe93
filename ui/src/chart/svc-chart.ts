import { LitElement, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles } from '../styles/shared.js';
import { onThemeChange } from '../styles/theme.js';
import { nearestRow } from './align.js';
import { formatX, type Limits, type Range, type XKind } from './axis.js';
import {
  contentOf,
  cssColorsOf,
  describeLines,
  isWithoutPoints,
  keyOf,
  labelsOf,
  toPlotLine,
  toPlotMark,
  type ChartLine,
  type ChartMark,
} from './chart-lines.js';
import { renderLegendButton, renderMarkButtons } from './chart-legend.js';
import { describeReading, readAt, renderReading, type Reading } from './chart-reading.js';
import { actionOf, rowAfter, zoomBy } from './chart-keys.js';
import { saveChart, type ChartFile } from './chart-files.js';
import { chartStyles } from './chart-styles.js';
import { drawNoMore, drawSoon } from './draw-queue.js';
import { resolveColors, type ChartColors } from './palette.js';
import { Plot } from './plot.js';
import './svc-chart-tools.js';
import type { SvcChartTools } from './svc-chart-tools.js';

export type { ChartLine, ChartMark };

const TOOLTIP_AWAY_PX = 14;
const MARK_REACH_PX = 6;
/** More lines than this have no room to say their best values. */
const MOST_WITH_BEST = 2;

/**
 * Lines over steps, epochs or time. The owner adds points to the series in place and raises `revision`; the chart draws at
 * most once per animation frame, only while it is in sight, and only what has changed. Fires `svc-zoom` with `[from, to]` in the unit of the
 * x axis or null, and `svc-full` with true or false. Charts of one `syncKey` show the cursor together.
 */
@customElement('svc-chart')
export class SvcChart extends LitElement {
  @property() heading = '';
  @property({ attribute: false }) lines: readonly ChartLine[] = [];
  @property({ type: Number }) revision = 0;
  @property({ type: Boolean }) log = false;
  @property({ type: Number }) smoothing = 0;
  @property({ attribute: false }) range: Range | null = null;
  @property() syncKey = '';
  @property() x: XKind = 'step';
  @property({ attribute: false }) marks: readonly ChartMark[] = [];
  /** What the y axis reaches in any case. */
  @property({ attribute: false }) limits: Partial<Limits> = {};
  /** Fetches every point of the lines as CSV; null: only the points shown can be had. */
  @property({ attribute: false }) exportAll: (() => Promise<Blob>) | null = null;
  /** Stands in place of the legend, where something else on the page is the legend; the chart in full size has one in any case. */
  @property() note = '';
  /** What an empty plot says; left out: that points are awaited. */
  @property() empty = 'Waiting for the first point';
  /** Why there are no points, or not the newest. */
  @property() failure = '';
  /** Fills the window, as a dialog. */
  @property({ type: Boolean }) full = false;
  @state() private cursorRow: number | null = null;
  @state() private cursorLeft = 0;
  @state() private isHovered = false;
  @state() private isKeyed = false;
  @state() private muted = new Set<string>();
  @state() private problem = '';
  @query('.plot') private readonly target!: HTMLElement;
  @query('figure') private readonly figure!: HTMLElement;
  @query('dialog') private readonly dialog!: HTMLDialogElement;
  @query('svc-chart-tools') private readonly tools!: SvcChartTools;

  #plot: Plot | null = null;
  #plotOf = '';
  #drawnOf: readonly unknown[] = [];
  #colors: ChartColors | null = null;
  #frame = 0;
  #isInSight = false;
  #isDirty = true;
  #forgetTheme: (() => void) | null = null;
  readonly #sizes = new ResizeObserver(() => this.#resize());
  readonly #sight = new IntersectionObserver(
    ([entry]) => {
      this.#isInSight = entry?.isIntersecting ?? false;
      if (this.#isInSight && this.#isDirty) this.#invalidate();
    },
    { rootMargin: '200px' },
  );

  static override styles = [baseStyles, iconStyles, chartStyles];

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
    drawNoMore(this.#draw);
    this.#destroy();
  }

  override firstUpdated(): void {
    this.#sizes.observe(this.target);
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('full')) this.#showFull();
    const isDrawn = ['lines', 'revision', 'log', 'smoothing', 'range', 'x', 'marks'] as const;
    if (isDrawn.some((name) => changed.has(name))) this.#invalidate();
  }

  override render() {
    const x = this.#cursorX;
    const problem = this.problem || this.failure;
    return html`<figure aria-label=${describeLines(this.lines, this.heading)}>
        <figcaption>
          <h3 title=${this.heading}><bdi>${this.heading}</bdi></h3>
          ${x === null ? nothing : html`<span class="step">${formatX(this.x, x)}</span>`}
          ${this.#renderTools()}
          <div class="legend">
            ${
              this.note === '' || this.full
                ? this.lines.map((line, at) => this.#renderLegend(line, at))
                : html`<span class="count">${this.note}</span>`
            }
            ${renderMarkButtons(this.marks, (mark) => this.#moveToMark(mark))}
          </div>
        </figcaption>
        ${problem === '' ? nothing : html`<p class="problem" role="alert">${problem}</p>`}
        <div
          class="plot"
          tabindex="0"
          role="group"
          aria-label="Plot of ${this.heading}. Left and right move through the points, plus and minus zoom, 0 shows all."
          @mouseenter=${() => (this.isHovered = true)}
          @mouseleave=${() => (this.isHovered = false)}
          @keydown=${this.#onKey}
          @blur=${() => (this.isKeyed = false)}
        >
          ${isWithoutPoints(this.lines) && problem === '' ? html`<p class="empty">${this.range ? 'No points in this range' : this.empty}</p>` : nothing}
          ${this.isHovered || this.isKeyed ? this.#renderTooltip() : nothing}
        </div>
        <p class="visually-hidden" role="status">
          ${this.isKeyed && this.#reading ? describeReading(this.#reading) : nothing}
        </p>
      </figure>
      <dialog aria-label=${this.heading} @close=${() => this.#setFull(false)}></dialog>`;
  }

  get #cursorX(): number | null {
    return this.cursorRow === null ? null : (this.#plot?.aligned.xs[this.cursorRow] ?? null);
  }

  get #cssColors(): string[] {
    return cssColorsOf(this.lines);
  }
  get #labels(): string[] {
    return labelsOf(this.lines, this.heading);
  }

  #renderTools() {
    return html`<svc-chart-tools
      heading=${this.heading}
      ?zoomed=${this.range !== null}
      ?full=${this.full}
      ?exportable=${this.exportAll !== null}
      @svc-reset=${() => this.#zoom(null)}
      @svc-toggle=${() => this.#setFull(!this.full)}
      @svc-save=${(event: CustomEvent<ChartFile>) => void this.#save(event.detail)}
    ></svc-chart-tools>`;
  }

  #renderLegend(line: ChartLine, at: number) {
    return renderLegendButton(line, {
      label: this.#labels[at]!,
      color: this.#cssColors[at]!,
      value: this.#valueAtCursor(at) ?? line.latest ?? line.series.values.at(-1),
      isLog: this.log,
      isMuted: this.muted.has(keyOf(line)),
      hasBest: this.lines.length <= MOST_WITH_BEST,
      onToggle: () => this.#toggle(line, at),
    });
  }

  #renderTooltip() {
    const reading = this.#reading;
    if (reading === null) return nothing;
    const width = this.target.clientWidth;
    const side =
      this.cursorLeft > width / 2
        ? `right: ${width - this.cursorLeft + TOOLTIP_AWAY_PX}px`
        : `left: ${this.cursorLeft + TOOLTIP_AWAY_PX}px`;
    return renderReading(reading, side);
  }

  get #reading(): Reading | null {
    const x = this.#cursorX;
    if (x === null) return null;
    const [labels, colors] = [this.#labels, this.#cssColors];
    const lines = this.lines.map((line, at) =>
      this.muted.has(keyOf(line)) ? null : { label: labels[at]!, color: colors[at]!, unit: line.unit ?? '' },
    );
    return readAt(this.#plot!, this.cursorRow!, { kind: this.x, lines, notes: this.#marksNear(x) });
  }

  #marksNear(x: number): ChartMark[] {
    const [from, to] = this.#plot!.range;
    const reach = ((to - from) / Math.max(1, this.target.clientWidth)) * MARK_REACH_PX;
    return this.marks.filter((mark) => {
      const at = toPlotMark(mark, this.lines, this.x)?.x;
      return at !== undefined && Math.abs(at - x) <= reach;
    });
  }

  #valueAtCursor(at: number): number | undefined {
    if (this.cursorRow === null) return undefined;
    const column = this.#plot?.aligned.measured[at];
    const nearest = column ? nearestRow(column, this.cursorRow) : null;
    return nearest === null ? undefined : column![nearest];
  }

  #toggle(line: ChartLine, at: number): void {
    const muted = new Set(this.muted);
    const key = keyOf(line);
    if (!muted.delete(key)) muted.add(key);
    this.muted = muted;
    this.#plot?.show(at, !muted.has(key));
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
    // A chart that is not there yet is wanted at once; many that change take turns.
    if (this.#plot) drawSoon(this.#draw);
    else this.#frame ||= requestAnimationFrame(this.#draw);
  }

  readonly #draw = (): void => {
    this.#frame = 0;
    if (!this.#isDirty || this.target.clientWidth === 0) return;
    this.#isDirty = false;
    // Axes without a line would say something; those of a range stay, to leave it.
    if (isWithoutPoints(this.lines) && this.range === null) return this.#destroy();
    const looks = this.lines.map((line) => [keyOf(line), line.color, line.dash]);
    const key = JSON.stringify([looks, this.log, this.smoothing, this.x, this.syncKey, this.limits]);
    const isSame = this.#plot !== null && key === this.#plotOf;
    const data = [...(this.range ?? [null, null]), ...contentOf(this.lines, this.marks)];
    if (isSame && data.every((each, at) => each === this.#drawnOf[at])) return;
    this.#drawnOf = data;
    const changes = {
      lines: this.lines.map((line) => toPlotLine(line, this.x)),
      marks: this.marks.flatMap((mark) => toPlotMark(mark, this.lines, this.x) ?? []),
      range: this.range,
    };
    if (isSame) this.#plot!.update(changes);
    else this.#rebuild(key, changes);
    // The tooltip shows what the plot holds.
    if (this.cursorRow !== null) this.requestUpdate();
  };

  #rebuild(
    key: string,
    changes: Pick<ConstructorParameters<typeof Plot>[1], 'lines' | 'marks' | 'range'>,
  ): void {
    this.#destroy();
    this.#plotOf = key;
    this.#colors = resolveColors(this, this.#cssColors);
    this.#plot = new Plot(
      this.target,
      {
        ...changes,
        colors: this.#colors,
        xKind: this.x,
        isLog: this.log,
        smoothing: this.smoothing,
        limits: this.limits,
        syncKey: this.syncKey,
        onSelect: (from, to) => this.#zoom([from, to]),
        onReset: () => this.#zoom(null),
        onCursor: (row, left) => this.#onCursor(row, left),
      },
      this.#size(),
    );
    this.lines.forEach((line, at) => {
      if (this.muted.has(keyOf(line))) this.#plot?.show(at, false);
    });
  }

  #destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
    this.#plotOf = '';
  }

  #onCursor(row: number | null, left: number): void {
    this.cursorRow = left < 0 ? null : row;
    this.cursorLeft = left + (this.#plot?.left ?? 0);
  }

  /** Steps are whole. */
  #zoom(range: Range | null): void {
    if (range === null && this.range === null) return;
    const detail = range && this.x === 'step' ? [Math.floor(range[0]), Math.ceil(range[1])] : range;
    this.dispatchEvent(new CustomEvent('svc-zoom', { detail }));
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const plot = this.#plot;
    const action = event.target === this.target ? actionOf(event) : null;
    if (!plot || action === null) return;
    event.preventDefault();
    const { xs } = plot.aligned;
    if (action === 'all') this.#zoom(null);
    else if ('move' in action) {
      const row = rowAfter(xs, plot.range, this.cursorRow, action.move);
      if (row !== null) this.#moveTo(row);
    } else {
      const [from, to] = plot.range;
      this.#zoom(zoomBy(xs, plot.range, this.#cursorX ?? (from + to) / 2, action.zoom));
    }
  };

  #moveTo(row: number): void {
    this.isKeyed = true;
    this.#plot!.moveTo(row);
  }

  /** Shows a mark as under the pointer; in view, should it lie outside the range. */
  #moveToMark(mark: ChartMark): void {
    const x = toPlotMark(mark, this.lines, this.x)?.x;
    if (x === undefined || !this.#plot) return;
    const [from, to] = this.#plot.range;
    if (x < from || x > to) return this.#zoom(null);
    const { xs } = this.#plot.aligned;
    const row = xs.findIndex((each) => each >= x);
    this.target.focus();
    this.#moveTo(row < 0 ? xs.length - 1 : row);
  }

  async #save(file: ChartFile): Promise<void> {
    this.problem = '';
    try {
      const picture = {
        title: this.heading,
        labels: this.#labels,
        colors: this.#colors,
        canvas: this.#plot?.canvas,
      };
      await saveChart(file, { lines: this.lines, exportAll: this.exportAll, picture });
    } catch (error) {
      this.problem = `The file could not be made. ${error instanceof Error ? error.message : ''}`;
    }
  }

  #setFull(isFull: boolean): void {
    if (this.full === isFull) return;
    this.full = isFull;
    this.dispatchEvent(new CustomEvent('svc-full', { detail: isFull }));
  }

  /** The figure itself moves into the dialog and back, with its zoom, cursor and muted lines. */
  #showFull(): void {
    if (this.full === (this.figure.parentNode === this.dialog)) return;
    if (this.full) {
      this.dialog.append(this.figure);
      this.dialog.showModal();
    } else {
      this.dialog.close();
      this.renderRoot.insertBefore(this.figure, this.dialog);
    }
    void this.tools.updateComplete.then(() => this.tools.focus());
  }
}
