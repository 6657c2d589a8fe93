export const FIRST_TS = 1_760_000_000_000;

export interface BenchPoint {
  readonly seq: number;
  readonly name: string;
  readonly step: number;
  readonly value: number;
  readonly ts: number;
}

export function metricNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `train/metric_${index}`);
}

/** What a usual training logs at each step. */
export const USUAL_NAMES: readonly string[] = metricNames(20);

/** The point of that seq, where each step has one of each name: the same for the server, the raw inserts and every peer. */
export function pointOf(seq: number, names = USUAL_NAMES): BenchPoint {
  const step = Math.floor(seq / names.length);
  return {
    seq,
    name: names[seq % names.length] as string,
    step,
    value: noisy(seq),
    ts: FIRST_TS + step * 50,
  };
}

export function pointsFrom(start: number, count: number, names = USUAL_NAMES): BenchPoint[] {
  return Array.from({ length: count }, (_, index) => pointOf(start + index, names));
}

/** A falling curve with noise and as many digits as a float32 of a training has. */
function noisy(seq: number): number {
  const noise = ((seq * 2_654_435_761) % 4_294_967_296) / 4_294_967_296;
  return Math.fround(10 / (1 + seq / 1e5) + noise);
}
