import type uPlot from 'uplot';
import type { AlignedSeries } from './align.js';

const SIZE = 5;

/**
 * Values that have no place on the axis, as marks on its edge: NaN and infinities at the top, minus infinity and what
 * a log axis cannot hold at the bottom, each with a dashed line through the plot.
 */
export function drawMarkers(
  plot: uPlot,
  { steps, drawn, measured }: AlignedSeries,
  colors: readonly string[],
): void {
  const { ctx, bbox } = plot;
  const scale = window.devicePixelRatio;
  const { min, max } = plot.scales.x!;
  ctx.save();
  ctx.lineWidth = scale;
  drawn.forEach((column, line) => {
    if (plot.series[line + 1]?.show === false) return;
    ctx.strokeStyle = ctx.fillStyle = colors[line]!;
    let lastX = Number.NEGATIVE_INFINITY;
    column.forEach((value, row) => {
      const step = steps[row]!;
      if (value !== null || step < min! || step > max!) return;
      const x = Math.round(plot.valToPos(step, 'x', true));
      if (x - lastX < SIZE * scale) return;
      lastX = x;
      drawMarker(ctx, x, bbox, isAtBottom(measured[line]![row]!), SIZE * scale);
    });
  });
  ctx.restore();
}

function isAtBottom(value: number): boolean {
  return value <= 0;
}

function drawMarker(
  ctx: CanvasRenderingContext2D,
  x: number,
  box: uPlot.BBox,
  isBottom: boolean,
  size: number,
): void {
  const edge = isBottom ? box.top + box.height : box.top;
  const inner = isBottom ? edge - size * 1.5 : edge + size * 1.5;
  ctx.globalAlpha = 0.35;
  ctx.setLineDash([size / 2, size / 2]);
  ctx.beginPath();
  ctx.moveTo(x, box.top);
  ctx.lineTo(x, box.top + box.height);
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.beginPath();
  ctx.moveTo(x - size, edge);
  ctx.lineTo(x + size, edge);
  ctx.lineTo(x, inner);
  ctx.closePath();
  ctx.fill();
}
