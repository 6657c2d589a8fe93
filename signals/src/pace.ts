/** How fast steps follow one another, from the last points of a series. */
export interface Pace {
  /** Over all these points. */
  readonly steps_per_s: number;
  /** Over the slowest and the fastest quarter of them. */
  readonly slowest: number;
  readonly fastest: number;
  /** The median between two neighbours: a pause, as for a validation, does not change it. */
  readonly usual: number;
}

export interface TimeLeft {
  readonly likely_s: number;
  readonly least_s: number;
  readonly most_s: number;
}

interface PacePoint {
  readonly step: number;
  /** In ms since the epoch. */
  readonly ts: number;
}

const QUARTERS = 4;
/** So that each quarter is at least from one point to the next. */
const MIN_POINTS = QUARTERS + 1;

/** null while too few of the points have moved on in step and time. After the steps went back, only what came since counts. */
export function paceOf(points: readonly PacePoint[]): Pace | null {
  const moves = forwardOf(points);
  if (moves.length < MIN_POINTS) return null;
  const at = (part: number) => moves[Math.round(part * (moves.length - 1))] as PacePoint;
  const quarters = Array.from({ length: QUARTERS }, (_, quarter) =>
    paceBetween(at(quarter / QUARTERS), at((quarter + 1) / QUARTERS)),
  );
  const neighbours = moves.slice(1).map((point, index) => paceBetween(moves[index] as PacePoint, point));
  return {
    steps_per_s: paceBetween(at(0), at(1)),
    slowest: Math.min(...quarters),
    fastest: Math.max(...quarters),
    usual: neighbours.sort((a, b) => a - b)[neighbours.length >>> 1] as number,
  };
}

/** In the order of time, each later and of a higher step than the one before: of points of one time, the last. */
function forwardOf(points: readonly PacePoint[]): PacePoint[] {
  let moves: PacePoint[] = [];
  for (const point of points.toSorted((a, b) => a.ts - b.ts || a.step - b.step)) {
    const last = moves.at(-1);
    if (last === undefined || point.step < last.step) moves = [point];
    else if (point.ts === last.ts) moves[moves.length - 1] = point;
    else if (point.step > last.step) moves.push(point);
  }
  return moves;
}

/** Steps per second; 0 when `to` is not later, or not further. */
export function paceBetween(from: PacePoint, to: PacePoint): number {
  const [steps, ms] = [to.step - from.step, to.ts - from.ts];
  return steps > 0 && ms > 0 ? (1000 * steps) / ms : 0;
}

/** Until that many more steps are done, with the spread of the pace; `overall`: the pace of the whole run, 0 when it is not known. */
export function timeLeftOf(pace: Pace, overall: number, steps: number): TimeLeft {
  const others = overall > 0 ? [overall] : [];
  return {
    likely_s: steps / pace.steps_per_s,
    least_s: steps / Math.max(pace.fastest, ...others),
    most_s: steps / Math.min(pace.slowest, ...others),
  };
}

/** Slower than this part of its pace before, a run has become slow. */
const SLOW = 0.5;
/** A shorter time proves nothing. */
const SLOW_AT_LEAST_MS = 60_000;

/** Whether the last points follow one another less than half as fast as those before them did, and not for a pause alone. */
export function hasBecomeSlow(pace: Pace, before: number, lastedMs: number): boolean {
  return (
    before > 0 &&
    lastedMs >= SLOW_AT_LEAST_MS &&
    pace.usual < SLOW * before &&
    pace.steps_per_s < SLOW * before
  );
}
