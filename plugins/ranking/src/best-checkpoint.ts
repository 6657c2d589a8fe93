import type { BestCheckpoint, Direction } from '@svc/contract';
import { fail, yieldIfSliceOver } from '@svc/kernel';
import type { CheckpointPlace, FoundCheckpoint } from '@svc/plugin-checkpoints';
import type { EvaluatedValue } from '@svc/plugin-evaluations';
import { afterBest } from './next-actions.js';
import type { Parts } from './parts.js';
import { requireOneProtocol } from './protocol.js';
import type { Question } from './question.js';
import { directionOf, primaryOf, type Scope } from './scope.js';
import { bestBy, bestOf, oldestFirst, toTrained, type Candidate, type Standing } from './standing.js';
import { trainingValues } from './training-values.js';
import { chooseWinner, tiedIds } from './winner.js';

/** A checkpoint with a finite value of the metric. */
type Valued = Candidate & { readonly standing: Standing };

export interface Found {
  readonly metric: string;
  readonly direction: Direction;
  readonly winner: Valued;
  readonly tied: readonly Valued[];
}

/**
 * The best checkpoint of the scope: of those that an evaluation has given a value, or, where no evaluation has, of those for which the
 * training logged one. Throws not_found when there is none, validation_error when several protocols or no direction leave it open.
 */
export async function findBestCheckpoint(parts: Parts, scope: Scope, question: Question): Promise<Found> {
  const metric = question.metric ?? (await primaryOf(parts, scope)) ?? failWithoutPrimary(scope);
  const { ctx, evaluations } = parts;
  const places = await parts.checkpoints.ofRuns(ctx.db, scope.runIds);
  const isDeleted = deletedAmong(places);
  const all = await evaluations.ofRuns(ctx.db, scope.runIds, metric, question.labels);
  const evaluated = all.filter(({ checkpoint_id }) => !isDeleted.has(checkpoint_id));
  requireOneProtocol(metric, evaluated, question.labels);
  const isEvaluated = evaluated.some(({ value }) => Number.isFinite(value));
  const findTied = isEvaluated ? bestEvaluated : bestTrained;
  const { tied, direction } = await findTied(
    parts,
    scope,
    { metric, labels: question.labels, places },
    evaluated,
  );
  const winner =
    (await chooseWinner(parts, tied)) ?? failWithoutValue(scope, { metric, labels: question.labels, places });
  return { metric, direction, winner, tied };
}

/** A question whose metric is known. */
interface Asked extends Question {
  readonly metric: string;
  /** Every checkpoint of the scope. */
  readonly places: readonly CheckpointPlace[];
}

/** Of which nothing is left to evaluate or to go on from. */
function deletedAmong(places: readonly CheckpointPlace[]): ReadonlySet<string> {
  return new Set(places.filter(({ deleted_at }) => deleted_at !== null).map(({ id }) => id));
}

/** The oldest first. */
type Tied = Pick<Found, 'tied' | 'direction'>;

async function bestEvaluated(
  parts: Parts,
  scope: Scope,
  { metric }: Asked,
  evaluated: readonly EvaluatedValue[],
): Promise<Tied> {
  const direction = await directionOf(parts, scope, metric);
  const value = bestOf(
    evaluated.map((each) => each.value),
    direction,
  );
  const best = bestBy(
    'checkpoint_id',
    evaluated.filter((each) => each.value === value),
    direction,
  );
  const tied = await parts.checkpoints.find(parts.ctx.db, [...best.keys()]);
  const toStanding = ({ id, step }: FoundCheckpoint): Standing => {
    const { value, id: evaluation_id } = best.get(id)!;
    return { value, step, source: 'evaluation', evaluation_id };
  };
  return { direction, tied: oldestFirst(tied.map((each) => ({ ...each, standing: toStanding(each) }))) };
}

/** A checkpoint that has been evaluated does not fall back to its training. */
async function bestTrained(
  parts: Parts,
  scope: Scope,
  asked: Asked,
  evaluated: readonly EvaluatedValue[],
): Promise<Tied> {
  const { metric, places } = asked;
  const leftOut = new Set([...evaluated.map(({ checkpoint_id }) => checkpoint_id), ...deletedAmong(places)]);
  const trained = await trainingValues(parts.metrics, metric, places, ({ id }) => !leftOut.has(id));
  if (![...trained.values()].some(({ min }) => min !== null)) failWithoutValue(scope, asked);
  const direction = await directionOf(parts, scope, metric);
  await yieldIfSliceOver();
  const standingOf = (id: string): Standing | null => toTrained(trained.get(id), direction);
  const best = bestOf(
    places.map(({ id }) => standingOf(id)?.value ?? NaN),
    direction,
  );
  const tied = places.flatMap((place) => {
    const standing = standingOf(place.id);
    return standing?.value === best ? [{ ...place, standing }] : [];
  });
  return { direction, tied: oldestFirst(tied) };
}

export async function describeBest(parts: Parts, found: Found, question: Question): Promise<BestCheckpoint> {
  const { metric, direction, winner, tied } = found;
  const checkpoint = await parts.checkpoints.show(winner.id);
  const { value, step: value_step, source, evaluation_id } = winner.standing;
  return {
    checkpoint_id: winner.id,
    checkpoint,
    run_id: winner.run_id,
    metric,
    direction,
    value,
    step: checkpoint.step,
    value_step,
    source,
    evaluation_id,
    tied_checkpoint_ids: tiedIds(tied),
    next_actions: afterBest(found, question.labels),
  };
}

const PRIMARY_REMEDY =
  'give a metric (--metric NAME, or metric in the query) or set a primary metric (svc metrics set NAME --primary, or PUT /api/v1/primary-metric)';
const VALUE_REMEDY =
  'evaluate a checkpoint (svc evaluate, or POST /api/v1/checkpoints/{id}/evaluations), or train with a run that logs the metric and saves checkpoints with their steps';

function failWithoutPrimary(scope: Scope): never {
  return fail(
    'not_found',
    `no metric is given, and no primary metric is set for ${toWhere(scope)}: ${PRIMARY_REMEDY}. Without a value of it yet, ${VALUE_REMEDY}`,
    { metric: null },
  );
}

function failWithoutValue(scope: Scope, { metric, labels, places }: Asked): never {
  const where = toWhere(scope);
  const deleted = deletedAmong(places).size;
  const without =
    places.length === 0
      ? `${where} has no checkpoint, and so no value of "${metric}"`
      : `no checkpoint of ${where} has a value of "${metric}"${toLabelled(labels)}${deleted === 0 ? '' : ` (${deleted} of ${places.length} are deleted and do not count)`}`;
  const message = `${without}: ${VALUE_REMEDY}. For another metric, ${PRIMARY_REMEDY}`;
  return fail('not_found', message, { metric });
}

function toWhere({ runIds }: Scope): string {
  const [first, ...others] = runIds;
  if (first === undefined) return 'an experiment without runs';
  return others.length === 0 ? first : `an experiment of ${runIds.length} runs`;
}

/** ` in an evaluation with suite "heldout"`: a misspelt label finds nothing. */
function toLabelled(labels: Question['labels']): string {
  const given = Object.entries(labels).filter(([, label]) => label !== undefined);
  if (given.length === 0) return '';
  return ` in an evaluation with ${given.map(([name, label]) => `${name} "${label}"`).join(', ')}, or from its training`;
}
