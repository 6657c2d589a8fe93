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
