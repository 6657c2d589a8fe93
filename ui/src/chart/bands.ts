import type uPlot from 'uplot';
import { envelopesOf } from './align.js';

const BAND_ALPHA = 0.16;

/** Of each of these lines, an area between the smallest and the largest value of what the server has thinned. */
export function drawBands(
  plot: uPlot,
  lines: readonly number[],
  xs: readonly number[],
  colors: readonly string[],
): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = BAND_ALPHA;
  for (const line of lines) {
    ctx.fillStyle = colors[line]!;
    for (const { rows, low, high } of envelopesOf(plot.data[line + 1] as (number | null | undefined)[])) {
      const toX = (row: number): number => plot.valToPos(xs[row]!, 'x', true);
      ctx.beginPath();
      rows.forEach((row, at) => ctx.lineTo(toX(row), plot.valToPos(high[at]!, 'y', true)));
      for (let at = rows.length - 1; at >= 0; at -= 1)
        ctx.lineTo(toX(rows[at]!), plot.valToPos(low[at]!, 'y', true));
      ctx.fill();
    }
  }
  ctx.restore();
}
