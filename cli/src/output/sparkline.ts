import type { MetricValue } from '@svc/contract';

const BARS = [...'▁▂▃▄▅▆▇█'];

/**
 * A curve of at most `width` characters, each the mean of its share of the values; a share that holds a value
 * that is not finite shows `!`.
 */
export function toSparkline(values: readonly MetricValue[], width: number): string {
  const shares = toShares(values, Math.min(width, values.length));
  const means = shares.map((share) => share.reduce((sum, value) => sum + value, 0) / share.length);
  const finite = means.filter(Number.isFinite);
  const low = Math.min(...finite);
  const span = Math.max(...finite) - low;
  return means
    .map((mean) => (Number.isFinite(mean) ? toBar(span === 0 ? 0.5 : (mean - low) / span) : '!'))
    .join('');
}

function toBar(height: number): string {
  return BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? '';
}

function toShares(values: readonly MetricValue[], count: number): number[][] {
  return Array.from({ length: count }, (_, index) =>
    values
      .slice(Math.floor((index * values.length) / count), Math.floor(((index + 1) * values.length) / count))
      .map(Number),
  );
}
