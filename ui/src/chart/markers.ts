import type uPlot from 'uplot';
import type { AlignedSeries } from './align.js';
import type { ChartColors } from './palette.js';

const SIZE_PX = 5;

interface Mark {
  x: number;
  isBottom: boolean;
}

/**
 * Values that have no place on the axis, as marks on its edge: NaN and plus infinity at the top, minus infinity and what
 * a log axis cannot hold at the bottom, each with a dashed line through the plot. Marks of several lines at one place are
 * stacked, so that none covers another.
 */
export function drawMarkers(plot: uPlot, aligned: AlignedSeries, colors: readonly string[]): void {
  const { ctx, bbox } = plot;
  const size = SIZE_PX * window.devicePixelRatio;
  const drawn: Mark[] = [];
  ctx.save();
  ctx.lineWidth = window.devicePixelRatio;
  aligned.drawn.forEach((_, line) => {
    if (plot.series[line + 1]?.show === false) return;
    ctx.strokeStyle = ctx.fillStyle = colors[line]!;
    const marks = marksOf(plot, aligned, line, size);
    for (const mark of marks) {
      const level = drawn.filter(
        (other) => other.isBottom === mark.isBottom && Math.abs(other.x - mark.x) < size,
      ).length;
      drawMark(ctx, mark, bbox, size, level);
    }
    drawn.push(...marks);
  });
  ctx.restore();
}

/** One mark for values of a line that fall on the same few pixels. */
function marksOf(plot: uPlot, { xs, drawn, measured }: AlignedSeries, line: number, size: number): Mark[] {
  const { min, max } = plot.scales['x']!;
  const marks: Mark[] = [];
  drawn[line]!.forEach((value, row) => {
    const at = xs[row]!;
    if (value !== null || at < min! || at > max!) return;
    const mark = { x: Math.round(plot.valToPos(at, 'x', true)), isBottom: measured[line]![row]! <= 0 };
    const last = marks.at(-1);
    if (last && last.isBottom === mark.isBottom && mark.x - last.x < size) return;
    marks.push(mark);
  });
  return marks;
}

function drawMark(
  ctx: CanvasRenderingContext2D,
  mark: Mark,
  box: uPlot.BBox,
  size: number,
  level: number,
): void {
  const height = size * 1.5;
  const away = level * (height + 1);
  const edge = mark.isBottom ? box.top + box.height - away : box.top + away;
  const tip = mark.isBottom ? edge - height : edge + height;
  ctx.globalAlpha = 0.35;
  ctx.setLineDash([size / 2, size / 2]);
  ctx.beginPath();
  ctx.moveTo(mark.x, box.top);
  ctx.lineTo(mark.x, box.top + box.height);
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.beginPath();
  ctx.moveTo(mark.x - size, edge);
  ctx.lineTo(mark.x + size, edge);
  ctx.lineTo(mark.x, tip);
  ctx.closePath();
  ctx.fill();
}

/** Something that has happened at a place of the x axis. */
export interface PlotMark {
  readonly x: number;
  readonly tone: 'info' | 'warning' | 'critical';
}

/** A line through the plot with a diamond on the x axis. */
export function drawMarks(plot: uPlot, marks: readonly PlotMark[], colors: ChartColors): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales['x']!;
  const size = SIZE_PX * window.devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * window.devicePixelRatio;
  for (const { x, tone } of marks) {
    if (x < min! || x > max!) continue;
    const left = Math.round(plot.valToPos(x, 'x', true));
    const bottom = bbox.top + bbox.height;
    ctx.strokeStyle = ctx.fillStyle = colors.tones[tone];
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bottom);
    ctx.globalAlpha = 0.6;
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.moveTo(left, bottom - size * 2);
    ctx.lineTo(left + size, bottom - size);
    ctx.lineTo(left, bottom);
    ctx.lineTo(left - size, bottom - size);
    ctx.closePath();
    ctx.fill();
  }
  ctx.restore();
}

/** A ring around the best value. */
export function drawBest(plot: uPlot, x: number, y: number, color: string, surface: string): void {
  const { ctx } = plot;
  const { min, max } = plot.scales['x']!;
  if (x < min! || x > max!) return;
  ctx.save();
  ctx.beginPath();
  ctx.arc(
    plot.valToPos(x, 'x', true),
    plot.valToPos(y, 'y', true),
    4 * window.devicePixelRatio,
    0,
    2 * Math.PI,
  );
  ctx.lineWidth = 2 * window.devicePixelRatio;
  ctx.strokeStyle = color;
  ctx.fillStyle = surface;
  ctx.fill();
  ctx.stroke();
  ctx.restore();
}
