export interface ChartColors {
  series: string[];
  grid: string;
  axis: string;
  surface: string;
}

/** The tokens as colours that a canvas takes: light-dark() and var() resolved for the theme in force. */
export function resolveColors(host: HTMLElement, seriesColors: readonly number[]): ChartColors {
  const probe = document.createElement('span');
  (host.shadowRoot ?? host).append(probe);
  const resolve = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const colors = {
    series: seriesColors.map((color) => resolve(`--chart-${color}`)),
    grid: resolve('--chart-grid'),
    axis: resolve('--color-text-3'),
    surface: resolve('--color-surface'),
  };
  probe.remove();
  return colors;
}
