/**
 * Exponential moving average with the start-up bias taken out; `weight` (0 to below 1) is that of the past.
 * A value that is not finite stays as it is and does not enter the average.
 */
export function ema(values: readonly number[], weight: number): number[] {
  let average = 0;
  let count = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    count += 1;
    average = average * weight + value * (1 - weight);
    return average / (1 - weight ** count);
  });
}
