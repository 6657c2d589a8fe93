import { medianOf } from './median.js';
import { trendOf } from './trend.js';

/** One evaluation: the validation loss, and the median of the training loss since the evaluation before. */
export interface Evaluation {
  readonly validation: number;
  readonly training: number;
}

export interface OverfittingRule {
  /** The validation loss has reached this many times its best value. */
  readonly factor: number;
  readonly minEvaluations: number;
}

export const OVERFITTING: OverfittingRule = { factor: 1.5, minEvaluations: 4 };

const MAD_TO_SIGMA = 1.4826;
/** The standard deviation of a second difference of independent noise of 1. */
const SECOND_DIFFERENCE_SIGMA = Math.sqrt(6);
const MIN_TREND_POINTS = 4;

/**
 * Whether the training loss decreases while the validation loss diverges. `evaluations` are the last ones, oldest first, at least from the best
 * on. Must hold: a validation loss that is noisy, as that of a small set is, has not diverged, however low its best value is by chance.
 */
export function isOverfitting(
  evaluations: readonly Evaluation[],
  { factor, minEvaluations }: OverfittingRule = OVERFITTING,
): boolean {
  if (evaluations.length < minEvaluations) return false;
  const losses = evaluations.map(({ validation }) => validation);
  const best = Math.min(...losses);
  const now = losses.at(-1) as number;
  if (!(best > 0) || now < factor * best) return false;
  if (Math.log(now / best) <= rangeOfNoise(losses)) return false;
  return decreases(evaluations.slice(losses.lastIndexOf(best)).map(({ training }) => training));
}

/** How far the highest of so many values lies above the lowest when they are noise alone, as a logarithm. */
function rangeOfNoise(losses: readonly number[]): number {
  const logarithms = losses.map(Math.log);
  const bends = logarithms.slice(2).map((value, index) => {
    const [before, middle] = [logarithms[index] as number, logarithms[index + 1] as number];
    return Math.abs(value - 2 * middle + before);
  });
  const sigma = (MAD_TO_SIGMA * medianOf(Float64Array.from(bends))) / SECOND_DIFFERENCE_SIGMA;
  return sigma * (2 * Math.sqrt(2 * Math.log(losses.length)) - 0.5);
}

/** It has halved, or falls more than its noise explains. */
function decreases(training: readonly number[]): boolean {
  const [then, now] = [training[0] as number, training.at(-1) as number];
  if (!(now < then)) return false;
  if (then > 0 && now <= then / 2) return true;
  return training.length < MIN_TREND_POINTS || trendOf(Float64Array.from(training)) === 'decreasing';
}
