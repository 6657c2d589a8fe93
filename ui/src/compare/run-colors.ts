const TOKENS = 8;
const GOLDEN_ANGLE = 137.508;

/** The colour of the run at that place of the comparison: the chart colours, then hues far from each other. */
export function runColor(at: number): string {
  if (at < TOKENS) return `var(--chart-${at + 1})`;
  const hue = Math.round((at * GOLDEN_ANGLE) % 360);
  return `light-dark(oklch(0.52 0.14 ${hue}), oklch(0.78 0.12 ${hue}))`;
}
