import { strict, type Detector, type Finding, type MetricPoint } from '@svc/contract';
import { isOverfitting, lossRole, medianOf, OVERFITTING, WIDEST_LEVEL, type LossRole } from '@svc/signals';
import { Type } from 'typebox';
import { ByMetric, MAX_METRICS } from './newest-points.js';
import { TrainingCourse } from './training-course.js';

const options = strict({
  factor: Type.Number({
    minimum: 1.01,
    default: OVERFITTING.factor,
    description: 'The validation loss has reached this many times its best value.',
  }),
  min_evaluations: Type.Integer({
    minimum: 4,
    maximum: 32,
    default: OVERFITTING.minEvaluations,
    description: 'So many values of the validation loss are needed.',
  }),
});

const MAX_EVALUATIONS = 64;

/** Of the steps behind that of the evaluation before, up to its own: the order in which points arrive does not matter. */
interface StepEvaluation {
  readonly after: number;
  readonly step: number;
  readonly validation: number;
  /** Known once the next evaluation has come. */
  training: number | null;
}

/** Of one validation loss. */
interface Validation {
  readonly name: string;
  lowest: number;
  /** The best in a row of those that are not among the recent ones any more. */
  best: readonly StepEvaluation[];
  /** The newest last. */
  readonly recent: StepEvaluation[];
}

/** One loss, measured on the data of the training and on other data. */
interface Pair {
  readonly training: TrainingCourse;
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
      when: 'a validation loss is at least 1.5 times its best value and has left its noise (medians of 3 evaluations once there are 8, of 5 once there are 24), or among up to 5 evaluations has risen at the last two or more, while the training loss of the same name decreases (or a loss by another name: `nll`, `perplexity`, `ppl`, `cross_entropy`, `mse`, `mae`) up to the same steps; after at least 4 evaluations. Once for a run',
    },
  ],
  optionsSchema: options,
  wantsMetric: (name) => lossRole(name) !== null,
  init: (given) => ({
    options: given,
    series: new ByMetric((name) => ({ role: lossRole(name) })),
    pairs: new Map(),
  }),
  step(memory, input) {
    if (input.kind !== 'metric') return { memory, findings: [] };
    return { memory, findings: input.points.flatMap((point) => see(memory, point)) };
  },
};

function see({ options, series, pairs }: Memory, point: MetricPoint): Finding[] {
  const { name, step, value } = point;
  const role = typeof value === 'number' ? series.next(point)?.role : null;
  if (!role || typeof value !== 'number') return [];
  const pair = pairOf(pairs, role.pair);
  if (pair === null) return [];
  const { training, validations } = pair;
  if (role.data === 'training') {
    training.add({ step, value });
    const late = [...validations.values()].filter((validation) => isOfNewest(validation, step));
    return late.flatMap((validation) => decide(validation, training, options));
  }
  const validation = validations.get(name) ?? { name, lowest: Infinity, best: [], recent: [] };
  validations.set(name, validation);
  note(validation, training, step, value);
  return decide(validation, training, options);
}

function pairOf(pairs: Memory['pairs'], name: string): Pair | null {
  const known = pairs.get(name);
  if (known) return known;
  if (pairs.size >= MAX_METRICS) return null;
  const pair: Pair = { training: new TrainingCourse(), validations: new Map() };
  pairs.set(name, pair);
  return pair;
}

/** Whether a point of the training at the step says more about the newest evaluation, which came before it. */
function isOfNewest({ recent }: Validation, step: number): boolean {
  const newest = recent.at(-1);
  return newest !== undefined && step > newest.after && step <= newest.step;
}

function note(validation: Validation, course: TrainingCourse, step: number, value: number): void {
  const { recent } = validation;
  const before = recent.at(-1);
  if (before) before.training = course.levelBetween(before.after, before.step);
  recent.push({ after: before?.step ?? -Infinity, step, validation: value, training: null });
  validation.lowest = Math.min(validation.lowest, value);
  if (recent.length <= MAX_EVALUATIONS) return;
  const oldest = recent.splice(0, WIDEST_LEVEL);
  if (validation.best.length === 0 || medianLoss(oldest) < medianLoss(validation.best))
    validation.best = oldest;
}

function medianLoss(evaluations: readonly StepEvaluation[]): number {
  return medianOf(Float64Array.from(evaluations, ({ validation }) => validation));
}

function decide(
  { name, lowest, best, recent }: Validation,
  course: TrainingCourse,
  { factor, min_evaluations: minEvaluations }: Memory['options'],
): Finding[] {
  const { step, validation: value } = recent.at(-1) as StepEvaluation;
  // Rules out most evaluations.
  if (value < factor * lowest) return [];
  const evaluations = [...best, ...recent].map((each) => ({
    validation: each.validation,
    training: each.training ?? course.levelBetween(each.after, each.step) ?? course.lastUpTo(each.step),
  }));
  if (!isOverfitting(evaluations, { factor, minEvaluations })) return [];
  const [shown, least] = [value, lowest].map((number) => Number(number.toPrecision(4)));
  const finding: Finding = {
    fingerprint: 'overfitting',
    type: 'OVERFITTING_SUSPECTED',
    severity: 'warning',
    title: `${name} diverges while the training loss falls`,
    message: `At step ${step} it is ${shown}; its best value was ${least}.`,
    data: { metric: name, step, value, best: lowest, training: evaluations.at(-1)?.training ?? null },
  };
  return [finding];
}
