import uPlot from 'uplot';
import { formatTick, formatTicks } from '../format.js';
import { alignSeries, type AlignedSeries } from './align.js';
import { ema } from './ema.js';
import { drawMarkers } from './markers.js';
import type { ChartColors } from './palette.js';
import type { PointColumns } from './series-store.js';

/** What a chart shows. Lines come with their points; the rest is how to draw them. */
export interface PlotSpec {
  lines: readonly Pick<PointColumns, 'steps' | 'values'>[];
  colors: ChartColors;
  isLog: boolean;
  /** Weight of the past, 0 for none. The raw line stays under the smoothed one. */
  smoothing: number;
  /** Steps in view; null for all. */
  range: readonly [number, number] | null;
  syncKey: string;
  onSelect(from: number, to: number): void;
  onReset(): void;
  onCursor(row: number | null, left: number): void;
}

export interface PlotSize {
  width: number;
  height: number;
}

const RAW_UNDER_SMOOTH = 0.3;

/** A uPlot of the lines, kept in step with them by `update`. */
export class Plot {
  readonly #plot: uPlot;
  aligned: AlignedSeries;

  #spec: PlotSpec;

  constructor(target: HTMLElement, spec: PlotSpec, size: PlotSize) {
    this.#spec = spec;
    this.aligned = alignSeries(spec.lines, spec.isLog);
    this.#plot = new uPlot(this.#options(size), this.#data(), target);
  }

  /** New points or another range; lines, colours and scale must be the same, else make a new plot. */
  update(lines: PlotSpec['lines'], range: PlotSpec['range']): void {
    this.#spec = { ...this.#spec, lines, range };
    this.aligned = alignSeries(lines, this.#spec.isLog);
    this.#plot.setData(this.#data());
  }

  /** Pixels from the edge of the target to the y axis. */
  get left(): number {
    return this.#plot.bbox.left / window.devicePixelRatio;
  }

  resize(size: PlotSize): void {
    this.#plot.setSize(size);
  }

  show(line: number, isShown: boolean): void {
    this.#plot.setSeries(line + 1, { show: isShown });
    if (this.#spec.smoothing > 0) this.#plot.setSeries(line + 1 + this.#spec.lines.length, { show: isShown });
  }

  destroy(): void {
    this.#plot.destroy();
  }

  #data(): uPlot.AlignedData {
    const { steps, drawn } = this.aligned;
    return [steps, ...drawn, ...this.#smoothed()] as uPlot.AlignedData;
  }

  /**
   * The average of each line, put back into the rows where the line has points. A line with fewer points is averaged
   * over fewer: all lines of the chart are smoothed over the same stretch of steps.
   */
  #smoothed(): (number | null | undefined)[][] {
    const { smoothing } = this.#spec;
    if (smoothing === 0) return [];
    const points = this.aligned.drawn.map((column) => column.filter((value) => value !== undefined));
    const densest = Math.max(...points.map((column) => column.length));
    return this.aligned.drawn.map((column, line) => {
      const own = points[line]!.map((value) => value ?? NaN);
      const averages = ema(own, smoothing ** (densest / Math.max(1, own.length)));
      let next = 0;
      return column.map((value) => (value === undefined ? undefined : toCell(averages[next++]!)));
    });
  }

  #options(size: PlotSize): uPlot.Options {
    const { colors, isLog, syncKey } = this.#spec;
    const axis = {
      stroke: colors.axis,
      grid: { stroke: colors.grid, width: 1 },
      ticks: { show: false },
      font: font(),
      gap: 6,
    };
    return {
      ...size,
      legend: { show: false },
      padding: [10, 20, 0, 0],
      scales: {
        x: { time: false, range: (_, min, max) => this.#xRange(min, max) },
        y: isLog ? { distr: 3 } : { range: (_, min, max) => yRange(min, max) },
      },
      axes: [
        { ...axis, size: 26, space: 70, values: (_, splits) => splits.map(formatStep) },
        {
          ...axis,
          size: axisWidth,
          space: 36,
          values: (_, splits) => formatTicks(splits),
        },
      ],
      series: this.#series(),
      cursor: {
        y: false,
        points: { size: 7, width: 2, stroke: colors.surface },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        bind: { dblclick: () => () => (this.#spec.onReset(), null) },
        sync: { key: syncKey, setSeries: false, filters: { pub: isMove, sub: isMove } },
        focus: { prox: -1 },
      },
      hooks: {
        draw: [(plot) => drawMarkers(plot, this.aligned, this.#spec.colors.series)],
        setSelect: [(plot) => this.#onSelect(plot)],
        setCursor: [(plot) => this.#spec.onCursor(plot.cursor.idx ?? null, plot.cursor.left ?? -1)],
      },
    };
  }

  #series(): uPlot.Series[] {
    const { lines, colors, smoothing } = this.#spec;
    const raw = lines.map((_, line): uPlot.Series => {
      const isUnder = smoothing > 0;
      return {
        stroke: colors.series[line]!,
        width: isUnder ? 1 : 1.5,
        alpha: isUnder ? RAW_UNDER_SMOOTH : 1,
        points: {
          size: 5,
          filter: (_plot, series, isShown) => (isShown ? null : this.#isolated(series - 1)),
        },
      };
    });
    const smooth =
      smoothing === 0
        ? []
        : lines.map((_, line): uPlot.Series => ({
            stroke: colors.series[line]!,
            width: 2,
            points: { show: false },
          }));
    return [{}, ...raw, ...smooth];
  }

  /** Points with no neighbour to draw a line to: without a dot they would not be seen. */
  #isolated(line: number): number[] {
    const column = this.aligned.drawn[line] ?? [];
    const found: number[] = [];
    let before: number | null = null;
    let last: number | null = null;
    column.forEach((value, row) => {
      if (value === undefined) return;
      if (last !== null && before === null && value === null) found.push(last);
      before = last === null ? null : column[last]!;
      last = row;
      if (value === null) last = null;
    });
    if (last !== null && before === null) found.push(last);
    return found;
  }

  #xRange(min: number | null, max: number | null): [number, number] {
    const [from, to] = this.#spec.range ?? [min ?? 0, max ?? 1];
    return from === to ? [from - 1, to + 1] : [from, to];
  }

  #onSelect(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 6) return;
    const from = Math.floor(plot.posToVal(left, 'x'));
    const to = Math.ceil(plot.posToVal(left + width, 'x'));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (to > from) this.#spec.onSelect(from, to);
  }
}

function toCell(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The whole range of the data with a little air: a spike is always in view. */
function yRange(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [0, 1];
  const air = (max - min) * 0.06 || Math.abs(max) * 0.1 || 1;
  return [min - air, max + air];
}

function axisWidth(plot: uPlot, values: string[] | null): number {
  if (!values) return 44;
  plot.ctx.font = font(window.devicePixelRatio);
  const widest = Math.max(0, ...values.map((value) => plot.ctx.measureText(value ?? '').width));
  return Math.max(36, Math.ceil(widest / window.devicePixelRatio) + 14);
}

function formatStep(value: number): string {
  return Number.isInteger(value) ? formatTick(value) : '';
}

function isMove(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave' || type === 'mouseenter';
}

function font(scale = 1): string {
  return `${11 * scale}px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif`;
}
