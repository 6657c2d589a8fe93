import {
  isDirectionKnown,
  type Convergence,
  type Direction,
  type EventRecord,
  type MetricSummary,
  type Protocol,
  type Run,
  type RunSummary,
} from '@svc/contract';
import type { EvaluatedValue } from '@svc/plugin-evaluations';
import type { RunSigns } from '@svc/plugin-metrics';
import { courseOf, isLoss, OVERFITTING, type Course } from '@svc/signals';
import { groupBy } from './group-by.js';
import type { Parts } from './parts.js';

/** Words of names that tell of speed, not of quality. */
const OF_SPEED: ReadonlySet<string | null> = new Set(['throughput', 'per_second']);

type Known = Pick<MetricSummary, 'direction' | 'guessed' | 'guessed_from' | 'is_primary'>;

/** `events`: the warnings about the run. */
export async function convergenceOf(
  parts: Parts,
  run: Run,
  { summary: { metrics }, far_from_best }: Pick<RunSigns, 'summary' | 'far_from_best'>,
  events: readonly EventRecord[],
): Promise<Convergence> {
  const primary = await primaryOf(parts, run);
  const ofPrimary = primary === null ? [] : await evaluated(parts, run, primary);
  const hasPrimary = primary !== null && (Object.hasOwn(metrics, primary) || ofPrimary.length > 0);
  const metric = hasPrimary ? primary : chooseMetric(metrics);
  if (metric === null) return NOTHING;
  const values = hasPrimary ? ofPrimary : await evaluated(parts, run, metric);
  const summary = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
  const meaning = summary ?? (await meaningOf(parts, run, metric));
  const direction = meaning && isDirectionKnown(meaning) ? meaning.direction : null;
  const isWorse =
    far_from_best.has(metric) || (isSuspected(events, metric) && isDiverged(summary, direction));
  return {
    metric,
    is_primary: hasPrimary,
    direction,
    ...ofTraining(summary, direction, isWorse),
    ...(await ofEvaluations(parts, values, direction)),
  };
}

const NO_EVALUATION = { eval_best: null, eval_best_step: null, eval_protocol: null };
const NOTHING: Convergence = {
  metric: null,
  is_primary: false,
  direction: null,
  ...ofTraining(undefined, null, false),
  ...NO_EVALUATION,
};

function placementOf({ id, project_id, experiment_id }: Run) {
  return { project_id, experiment_id, run_id: id };
}

function primaryOf({ ctx, definitions }: Parts, run: Run): Promise<string | null> {
  return definitions.primary(ctx.db, placementOf(run), [run.id]);
}

async function meaningOf({ ctx, definitions }: Parts, run: Run, metric: string): Promise<Known | undefined> {
  return (await definitions.meanings(ctx.db, placementOf(run), [metric])).get(metric);
}

/** As Lightning names what it logs of each batch and of each epoch. */
const OF_BATCHES = /_step$/;
const OF_VALIDATION = /val|eval|test/i;

/** A loss, that of the validation first, of its epochs rather than of its batches; else another metric whose direction is known. Of several the one with the most points. */
function chooseMetric(metrics: RunSummary['metrics']): string | null {
  const known = Object.entries(metrics)
    .filter(([, metric]) => isDirectionKnown(metric) && !OF_SPEED.has(metric.guessed_from))
    .sort(([a, { count }], [b, other]) => other.count - count || (a < b ? -1 : 1))
    .map(([name]) => name);
  const losses = known.filter(isLoss);
  const validation = losses.filter((name) => OF_VALIDATION.test(name));
  const ofEpochs = validation.find((name) => !OF_BATCHES.test(name));
  return ofEpochs ?? validation[0] ?? losses[0] ?? known[0] ?? null;
}

function isSuspected(events: readonly EventRecord[], metric: string): boolean {
  return events.some(
    ({ type, data }) => type === 'OVERFITTING_SUSPECTED' && 'metric' in data && data.metric === metric,
  );
}

function ofTraining(summary: MetricSummary | undefined, direction: Direction | null, isWorse: boolean) {
  const { latest, best, trend = 'unknown' } = summary ?? {};
  const course = courseOf(trend, direction);
  const isFinite = typeof latest?.value !== 'string';
  return {
    best: typeof best?.value === 'number' ? best.value : null,
    best_step: best?.step ?? null,
    latest: latest?.value ?? null,
    latest_step: latest?.step ?? null,
    trend,
    ...(isFinite && !isWorse ? course : gettingWorse(course)),
  };
}

/** A rise after a fall is level as a whole. So a loss of which the event tells gets worse, until it has come back. */
function isDiverged(summary: MetricSummary | undefined, direction: Direction | null): boolean {
  const [now, least] = [summary?.latest.value, summary?.best?.value];
  if (direction !== 'minimize' || typeof now !== 'number' || typeof least !== 'number') return false;
  return least > 0 && now >= OVERFITTING.factor * least;
}

/** The trend is that of the finite values of a window: it may be the one from before, or lead back from a divergence only part of the way. */
function gettingWorse({ is_improving }: Course): Course {
  return { is_improving: is_improving === null ? null : false, is_stalled: false };
}

function evaluated({ ctx, evaluations }: Parts, run: Run, metric: string): Promise<EvaluatedValue[]> {
  return evaluations.ofRuns(ctx.db, [run.id], metric, {});
}

/** Values of different protocols do not compare: those of the protocol with the most values count, and it is named. */
async function ofEvaluations(
  { ctx, checkpoints }: Parts,
  values: readonly EvaluatedValue[],
  direction: Direction | null,
): Promise<Pick<Convergence, keyof typeof NO_EVALUATION>> {
  const finite = values.filter(({ value }) => Number.isFinite(value));
  const comparable = groupBy(finite, (each) => JSON.stringify(protocolOf(each)));
  const [most] = comparable.sort((a, b) => b.length - a.length);
  const sign = direction === 'maximize' ? -1 : 1;
  const best = direction && most?.toSorted((a, b) => sign * (a.value - b.value))[0];
  if (!best) return NO_EVALUATION;
  const [checkpoint] = await checkpoints.find(ctx.db, [best.checkpoint_id]);
  return {
    eval_best: best.value,
    eval_best_step: checkpoint?.step ?? null,
    eval_protocol: protocolOf(best),
  };
}

function protocolOf({ suite, dataset, dataset_version }: Protocol): Protocol {
  return { suite, dataset, dataset_version };
}
