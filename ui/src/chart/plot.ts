import uPlot from 'uplot';
import { alignSeries, isolatedRows, type AlignedSeries, type PlotColumns } from './align.js';
import {
  formatXTicks,
  linearScale,
  logScale,
  widenX,
  xTicks,
  type Limits,
  type Range,
  type XKind,
  type YScale,
} from './axis.js';
import { drawBands } from './bands.js';
import { ema } from './ema.js';
import { drawBest, drawMarkers, drawMarks, type PlotMark } from './markers.js';
import type { ChartColors } from './palette.js';
import { formatTicks } from '../format.js';

/** A line with its points. */
export interface PlotLine extends PlotColumns {
  /** It moves between values that the server has left out: it gets a band. */
  readonly isThinned: boolean;
  readonly best: { readonly x: number; readonly value: number } | null;
  readonly dash: readonly number[];
}

/** What a chart shows. Lines come with their points; the rest is how to draw them. */
export interface PlotSpec {
  lines: readonly PlotLine[];
  marks: readonly PlotMark[];
  colors: ChartColors;
  xKind: XKind;
  isLog: boolean;
  /** Weight of the past, 0 for none. The raw line stays under the smoothed one. */
  smoothing: number;
  /** In view; null for all. */
  range: Range | null;
  limits: Partial<Limits>;
  syncKey: string;
  onSelect(from: number, to: number): void;
  onReset(): void;
  onCursor(row: number | null, left: number): void;
}

export interface PlotSize {
  width: number;
  height: number;
}

/** Its types leave out the last parameter: whether the other charts of the group follow. */
type SetCursor = (place: { left: number; top: number }, isFired: boolean, isShared: boolean) => void;

const RAW_UNDER_SMOOTH = 0.3;
/** More lines than this are thin and have no bands, which would cover each other. A browser paints a line of one pixel many times as fast. */
const FEW_LINES = 12;
const X_TICK_PX = { step: 70, epoch: 60, time: 80, elapsed: 72 } as const;
const Y_TICK_PX = 28;
const MOST_Y_TICKS = 10;

/** A uPlot of the lines, kept in step with them by `update`. */
export class Plot {
  readonly #plot: uPlot;
  aligned!: AlignedSeries;
  #scale!: YScale;
  #spec: PlotSpec;

  constructor(target: HTMLElement, spec: PlotSpec, size: PlotSize) {
    this.#spec = spec;
    const data = this.#align();
    this.#plot = new uPlot(this.#options(size), data, target);
  }

  /** New points, marks or another range; the number of lines, colours and scale must be the same, else make a new plot. */
  update(changes: Pick<PlotSpec, 'lines' | 'marks' | 'range'>): void {
    this.#spec = { ...this.#spec, ...changes };
    this.#plot.setData(this.#align());
  }

  /** Pixels from the edge of the target to the y axis. */
  get left(): number {
    return this.#plot.bbox.left / window.devicePixelRatio;
  }

  get canvas(): HTMLCanvasElement {
    return this.#plot.ctx.canvas;
  }

  /** What is in view. */
  get range(): Range {
    const { min, max } = this.#plot.scales['x']!;
    return [min ?? 0, max ?? 1];
  }

  /** How far the value of a line in a row is from the cursor, in pixels. */
  distance(line: number, row: number): number {
    const value = this.aligned.drawn[line]![row];
    if (value === null || value === undefined) return Infinity;
    return Math.abs(this.#plot.valToPos(this.#scale.toPlot(value), 'y') - (this.#plot.cursor.top ?? 0));
  }

  resize(size: PlotSize): void {
    this.#plot.setSize(size);
  }

  show(line: number, isShown: boolean): void {
    this.#plot.setSeries(line + 1, { show: isShown });
    if (this.#spec.smoothing > 0) this.#plot.setSeries(line + 1 + this.#spec.lines.length, { show: isShown });
  }

  /** Puts the cursor at a row, for the keyboard; the charts of its group follow. */
  moveTo(row: number): void {
    const left = this.#plot.valToPos(this.aligned.xs[row]!, 'x');
    const top = this.#plot.over.clientHeight / 2;
    (this.#plot.setCursor as SetCursor)({ left, top }, true, true);
  }

  destroy(): void {
    this.#plot.destroy();
  }

  #align(): uPlot.AlignedData {
    const { lines, isLog, limits } = this.#spec;
    this.aligned = alignSeries(lines, isLog);
    this.#scale = isLog ? logScale() : linearScale(largestOf(this.aligned), limits);
    const { toPlot } = this.#scale;
    const columns = [...this.aligned.drawn, ...this.#smoothed()].map((column) =>
      column.map((value) => (value === null || value === undefined ? value : toPlot(value))),
    );
    return [this.aligned.xs, ...columns] as uPlot.AlignedData;
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
    const { colors, xKind, syncKey } = this.#spec;
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
        x: { time: false, range: () => this.#xRange() },
        y: { range: (_, min, max) => this.#scale.bounds(min, max) },
      },
      axes: [
        {
          ...axis,
          size: 26,
          space: X_TICK_PX[xKind],
          splits: (plot, _, min, max) => xTicks(xKind, min, max, countTicks(plot.width, X_TICK_PX[xKind])),
          values: (_, splits) => formatXTicks(xKind, splits),
        },
        {
          ...axis,
          size: axisWidth,
          space: Y_TICK_PX,
          splits: (plot, _, min, max) =>
            this.#scale.ticks(min, max, Math.min(MOST_Y_TICKS, countTicks(plot.height, Y_TICK_PX))),
          values: (_, splits) => formatTicks(splits.map((split) => this.#scale.fromPlot(split))),
        },
      ],
      series: this.#series(),
      cursor: {
        y: false,
        points: { size: 7, width: 2, stroke: colors.surface },
        drag: { x: true, y: false, setScale: false, dist: 6 },
        bind: { dblclick: () => () => (this.#spec.onReset(), null) },
        sync: { key: syncKey, setSeries: false, scales: ['x', null], filters: { pub: isMove, sub: isMove } },
        focus: { prox: -1 },
      },
      hooks: {
        drawAxes: [(plot) => this.#drawUnder(plot)],
        draw: [(plot) => this.#drawOver(plot)],
        setSelect: [(plot) => this.#onSelect(plot)],
        setCursor: [(plot) => this.#spec.onCursor(plot.cursor.idx ?? null, plot.cursor.left ?? -1)],
      },
    };
  }

  #drawUnder(plot: uPlot): void {
    const { lines, colors } = this.#spec;
    if (lines.length > FEW_LINES) return;
    const thinned = lines.flatMap((line, at) => (line.isThinned && isShown(plot, at) ? [at] : []));
    drawBands(plot, thinned, this.aligned.xs, colors.series);
  }

  #drawOver(plot: uPlot): void {
    const { lines, colors, marks } = this.#spec;
    drawMarkers(plot, this.aligned, colors.series);
    drawMarks(plot, marks, colors);
    lines.forEach(({ best }, at) => {
      if (best === null || !isShown(plot, at)) return;
      drawBest(plot, best.x, this.#scale.toPlot(best.value), colors.series[at]!, colors.surface);
    });
  }

  #series(): uPlot.Series[] {
    const { lines, colors, smoothing } = this.#spec;
    const isCrowded = lines.length > FEW_LINES;
    const raw = lines.map(({ dash }, line): uPlot.Series => {
      const isUnder = smoothing > 0;
      return {
        stroke: colors.series[line]!,
        width: isUnder || isCrowded ? 1 : 1.5,
        alpha: isUnder ? RAW_UNDER_SMOOTH : 1,
        dash: [...dash],
        points: {
          size: 5,
          filter: (_plot, series, areShown) => (areShown ? null : isolatedRows(this.aligned, series - 1)),
        },
      };
    });
    const smooth =
      smoothing === 0
        ? []
        : lines.map(({ dash }, line): uPlot.Series => ({
            stroke: colors.series[line]!,
            width: isCrowded ? 1 : 2,
            dash: [...dash],
            points: { show: false },
          }));
    return [{}, ...raw, ...smooth];
  }

  /** From the points themselves: of a single one, uPlot tells a range that it has widened in its own way. */
  #xRange(): [number, number] {
    const { xs } = this.aligned;
    const [from, to] = this.#spec.range ?? [xs[0] ?? 0, xs.at(-1) ?? 1];
    return widenX(this.#spec.xKind, from, to);
  }

  #onSelect(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 6) return;
    const from = plot.posToVal(left, 'x');
    const to = plot.posToVal(left + width, 'x');
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (to > from) this.#spec.onSelect(from, to);
  }
}

function isShown(plot: uPlot, line: number): boolean {
  return plot.series[line + 1]?.show !== false;
}

function largestOf({ drawn }: AlignedSeries): number {
  let largest = 0;
  for (const column of drawn) for (const value of column) largest = Math.max(largest, Math.abs(value ?? 0));
  return largest;
}

function countTicks(lengthPx: number, spacePx: number): number {
  return Math.max(2, Math.floor(lengthPx / spacePx));
}

function toCell(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function axisWidth(plot: uPlot, values: string[] | null): number {
  if (!values) return 44;
  plot.ctx.font = font(window.devicePixelRatio);
  const widest = Math.max(0, ...values.map((value) => plot.ctx.measureText(value ?? '').width));
  return Math.max(36, Math.ceil(widest / window.devicePixelRatio) + 14);
}

function isMove(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave' || type === 'mouseenter';
}

export function font(scale = 1): string {
  return `${11 * scale}px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif`;
}
