import { strict, type Detector, type Finding, type MetricPoint } from '@svc/contract';
import {
  isLoss,
  isOverfitting,
  lossRole,
  medianOf,
  OVERFITTING,
  WIDEST_LEVEL,
  type Evaluation,
  type LossRole,
} from '@svc/signals';
import { Type } from 'typebox';
import { ByMetric, MAX_METRICS } from './newest-points.js';

const options = strict({
  factor: Type.Number({
    minimum: 1.01,
    default: OVERFITTING.factor,
    description: 'The validation loss has reached this many times its best value.',
  }),
  min_evaluations: Type.Integer({
    ...{ minimum: 4, maximum: 32 },
    default: OVERFITTING.minEvaluations,
    description: 'So many values of the validation loss are needed.',
  }),
});

/** The training loss at an evaluation is the median of so many values before it. */
const TRAINING_WINDOW = 16;
const MAX_EVALUATIONS = 64;

/** Of one validation loss. */
interface Validation {
  lowest: number;
  /** The best in a row of those that are not among the recent ones any more. */
  best: Evaluation[];
  /** The newest last. */
  recent: Evaluation[];
}

/** One loss, measured on the data of the training and on other data. */
interface Pair {
  /** Since the last evaluation. */
  training: number[];
  lastTraining: number | null;
  readonly validations: Map<string, Validation>;
}

interface Memory {
  readonly options: { readonly factor: number; readonly min_evaluations: number };
  readonly series: ByMetric<{ readonly role: LossRole | null }>;
  readonly pairs: Map<string, Pair>;
}

export const overfitting: Detector<typeof options, Memory> = {
  name: 'overfitting',
  of: 'run',
  takes: ['metric'],
  finds: [
    {
      type: 'OVERFITTING_SUSPECTED',
      severity: 'warning',
      when: 'a validation loss is at least 1.5 times its best value and has left its noise (medians of 3 evaluations once there are 8, of 5 once there are 24), while the training loss of the same name decreases; after at least 4 evaluations. Once for a run',
    },
  ],
  optionsSchema: options,
  wantsMetric: isLoss,
  init: (given) => ({
    options: given,
    series: new ByMetric((name) => ({ role: lossRole(name) })),
    pairs: new Map(),
  }),
  step(memory, input) {
    if (input.kind !== 'metric') return { memory, findings: [] };
    const findings = input.points.map((point) => see(memory, point)).filter((finding) => finding !== null);
    return { memory, findings };
  },
};

function see(memory: Memory, point: MetricPoint): Finding | null {
  const { value } = point;
  const role = typeof value === 'number' ? memory.series.next(point)?.role : null;
  if (!role || typeof value !== 'number') return null;
  const pair = pairOf(memory, role.pair);
  if (pair === null) return null;
  if (role.data === 'training') {
    pair.training.push(value);
    if (pair.training.length > TRAINING_WINDOW) pair.training.shift();
    return null;
  }
  return evaluate(memory, pair, point, value);
}

function evaluate(
  { options }: Memory,
  pair: Pair,
  { name, step }: MetricPoint,
  value: number,
): Finding | null {
  const training = levelOf(pair, name);
  if (training === null) return null;
  const { factor, min_evaluations: minEvaluations } = options;
  const { best, evaluations } = note(pair, name, { validation: value, training });
  // Rules out most evaluations.
  if (value < factor * best || !isOverfitting(evaluations(), { factor, minEvaluations })) return null;
  const [shown, least] = [value, best].map((number) => Number(number.toPrecision(4)));
  return {
    ...{ fingerprint: 'overfitting', type: 'OVERFITTING_SUSPECTED', severity: 'warning' },
    title: `${name} diverges while the training loss falls`,
    message: `At step ${step} it is ${shown}; its best value was ${least}.`,
    data: { metric: name, step, value, best, training },
  };
}

/** The training loss now. A second validation loss at the same step has no newer value. */
function levelOf(pair: Pair, name: string): number | null {
  const isFirst = !pair.validations.has(name) || pair.validations.size === 1;
  const [only] = pair.training;
  if (pair.training.length > 1) pair.lastTraining = medianOf(Float64Array.from(pair.training));
  else if (only !== undefined) pair.lastTraining = only;
  if (isFirst) pair.training = [];
  return pair.lastTraining;
}

/** Keeps the evaluation; returns the best value, and the last evaluations with the best ones. */
function note({ validations }: Pair, name: string, evaluation: Evaluation) {
  const validation: Validation = validations.get(name) ?? { lowest: Infinity, best: [], recent: [] };
  validations.set(name, validation);
  const { recent } = validation;
  recent.push(evaluation);
  validation.lowest = Math.min(validation.lowest, evaluation.validation);
  if (recent.length > MAX_EVALUATIONS) {
    const oldest = recent.splice(0, WIDEST_LEVEL);
    if (validation.best.length === 0 || medianLoss(oldest) < medianLoss(validation.best))
      validation.best = oldest;
  }
  return { best: validation.lowest, evaluations: () => [...validation.best, ...recent] };
}

function medianLoss(evaluations: readonly Evaluation[]): number {
  return medianOf(Float64Array.from(evaluations, ({ validation }) => validation));
}

function pairOf({ pairs }: Memory, name: string): Pair | null {
  const known = pairs.get(name);
  if (known) return known;
  if (pairs.size >= MAX_METRICS) return null;
  const pair: Pair = { training: [], lastTraining: null, validations: new Map() };
  pairs.set(name, pair);
  return pair;
}
