import type { ChartColors } from './palette.js';
import { font } from './plot.js';

export interface Picture {
  readonly title: string;
  readonly labels: readonly string[];
  readonly colors: ChartColors | null;
  readonly canvas: HTMLCanvasElement | undefined;
}

const MARGIN_PX = 12;
const LINE_PX = 18;

/** The chart with its title and legend, as a PNG in the resolution of the screen. */
export function toPng({ title, labels, colors, canvas: plotted }: Picture): Promise<Blob> {
  if (!plotted || !colors) throw new Error('Nothing is drawn yet.');
  const scale = window.devicePixelRatio;
  const canvas = document.createElement('canvas');
  const ctx = canvas.getContext('2d')!;
  canvas.width = plotted.width + 2 * MARGIN_PX * scale;
  ctx.font = font(scale);
  const places = placeLabels(labels, (text) => ctx.measureText(text).width, canvas.width, scale);
  const rows = (places.at(-1)?.row ?? 0) + 1;
  const headPx = (MARGIN_PX + LINE_PX * (1 + rows)) * scale;
  canvas.height = headPx + plotted.height + MARGIN_PX * scale;
  ctx.fillStyle = colors.surface;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.textBaseline = 'middle';
  ctx.fillStyle = colors.text;
  ctx.font = `600 ${font(1.15 * scale)}`;
  ctx.fillText(title, MARGIN_PX * scale, (MARGIN_PX + LINE_PX / 2) * scale, canvas.width);
  ctx.font = font(scale);
  places.forEach(({ text, left, row }, at) => {
    const y = (MARGIN_PX + LINE_PX * (row + 1.5)) * scale;
    ctx.fillStyle = colors.series[at]!;
    ctx.fillRect(left, y - scale, 10 * scale, 2 * scale);
    ctx.fillStyle = colors.text;
    ctx.fillText(text, left + 15 * scale, y);
  });
  ctx.drawImage(plotted, MARGIN_PX * scale, headPx);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser made no image.')))),
  );
}

/** From left to right, in as many rows as it takes. */
function placeLabels(
  labels: readonly string[],
  widthOf: (text: string) => number,
  width: number,
  scale: number,
): { text: string; left: number; row: number }[] {
  let left = MARGIN_PX * scale;
  let row = 0;
  return labels.map((text) => {
    const own = widthOf(text) + 27 * scale;
    if (left + own > width && left > MARGIN_PX * scale) {
      left = MARGIN_PX * scale;
      row += 1;
    }
    const place = { text, left, row };
    left += own;
    return place;
  });
}
