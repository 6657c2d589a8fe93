import { medianOf } from './median.js';
import { trendOf } from './trend.js';

/** One evaluation: the validation loss, and the median of the training loss since the evaluation before; null: not known. */
export interface Evaluation {
  readonly validation: number;
  readonly training: number | null;
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
/** The standard deviation of the median of so many values with noise of 1, against that of their mean. */
const MEDIAN_SIGMA = Math.sqrt(Math.PI / 2);
const MIN_TREND_POINTS = 4;
/** So few evaluations say little about their noise: then it is enough that they get worse so many times in a row. */
const FEW_EVALUATIONS = 5;
const MIN_RISES = 2;

/** From so many evaluations on, a level is the median of so many in a row: one evaluation alone is the best, or a bad one, by chance. */
const LEVELS = [
  { evaluations: 24, width: 5 },
  { evaluations: 8, width: 3 },
] as const;
export const WIDEST_LEVEL = LEVELS[0].width;

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
  const width = LEVELS.find(({ evaluations: least }) => losses.length >= least)?.width ?? 1;
  const levels = levelsOf(losses, width);
  const best = Math.min(...levels);
  const now = levels.at(-1) as number;
  if (!(best > 0) || now < factor * best) return false;
  const sinceBest = evaluations.slice(levels.lastIndexOf(best));
  if (losses.length <= FEW_EVALUATIONS && turnsWithoutNoise(sinceBest)) return true;
  if (Math.log(now / best) <= rangeOfNoise(losses, width)) return false;
  return decreases(sinceBest.map(({ training }) => training).filter((training) => training !== null));
}

/** Since the best evaluation each validation loss is higher than the one before, and each training loss lower. */
function turnsWithoutNoise(sinceBest: readonly Evaluation[]): boolean {
  const rises = sinceBest.slice(1);
  return (
    rises.length >= MIN_RISES &&
    rises.every(({ validation, training }, index) => {
      const before = sinceBest[index] as Evaluation;
      if (training === null || before.training === null) return false;
      return validation > before.validation && training < before.training;
    })
  );
}

/** The medians of so many values in a row. */
function levelsOf(values: readonly number[], width: number): number[] {
  return values
    .slice(width - 1)
    .map((_, from) => medianOf(Float64Array.from(values.slice(from, from + width))));
}

/** How far the highest of the levels lies above the lowest when they are noise alone, as a logarithm. */
function rangeOfNoise(losses: readonly number[], width: number): number {
  const logarithms = losses.map(Math.log);
  const bends = logarithms.slice(2).map((value, index) => {
    const [before, middle] = [logarithms[index] as number, logarithms[index + 1] as number];
    return Math.abs(value - 2 * middle + before);
  });
  const sigma = (MAD_TO_SIGMA * medianOf(Float64Array.from(bends))) / SECOND_DIFFERENCE_SIGMA;
  const range = 2 * Math.sqrt(2 * Math.log(losses.length));
  return width === 1 ? sigma * (range - 0.5) : (sigma * MEDIAN_SIGMA * range) / Math.sqrt(width);
}

/** It has halved, or falls more than its noise explains. */
function decreases(training: readonly number[]): boolean {
  const [then, now] = [training[0] ?? NaN, training.at(-1) ?? NaN];
  if (!(now < then)) return false;
  if (then > 0 && now <= then / 2) return true;
  return training.length < MIN_TREND_POINTS || trendOf(Float64Array.from(training)) === 'decreasing';
}
