export interface ChartColors {
  series: string[];
  grid: string;
  axis: string;
  surface: string;
  text: string;
  tones: Record<'info' | 'warning' | 'critical', string>;
}

/** CSS colours (tokens, light-dark()) as colours that a canvas takes, for the theme in force. */
export function resolveColors(host: HTMLElement, seriesColors: readonly string[]): ChartColors {
  const probe = document.createElement('span');
  (host.shadowRoot ?? host).append(probe);
  const resolve = (color: string): string => {
    probe.style.color = color;
    return getComputedStyle(probe).color;
  };
  const colors = {
    series: seriesColors.map(resolve),
    grid: resolve('var(--chart-grid)'),
    axis: resolve('var(--color-text-3)'),
    surface: resolve('var(--color-surface)'),
    text: resolve('var(--color-text)'),
    tones: {
      info: resolve('var(--color-accent)'),
      warning: resolve('var(--color-warning)'),
      critical: resolve('var(--color-danger)'),
    },
  };
  probe.remove();
  return colors;
}

/** How a line is told from the others. */
export interface LineLook {
  /** CSS. */
  readonly color: string;
  /** Lengths of strokes and gaps; empty for a whole line. */
  readonly dash: readonly number[];
}

const HUES = 12;
const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3], [12, 4]];

/** Looks for the lines of many runs: no two of up to 60 are the same. Neighbours are far apart in hue. */
export function distinctLooks(count: number): LineLook[] {
  return Array.from({ length: count }, (_, at) => {
    const hue = (260 + (at % HUES) * 150) % 360;
    const dash = DASHES[Math.floor(at / HUES) % DASHES.length]!;
    return { color: `light-dark(oklch(0.52 0.16 ${hue}), oklch(0.78 0.13 ${hue}))`, dash };
  });
}
