import type { Direction, Run } from '@svc/contract';
import { failValidation } from '@svc/kernel';
import type { Placement } from '@svc/plugin-metric-definitions';
import type { Parts } from './parts.js';

/** The runs whose values are ranked, and the level at which their metric is defined: the nearest that all of them have. */
export interface Scope {
  readonly runIds: readonly string[];
  readonly placement: Placement;
}

export function toScope(runs: readonly Pick<Run, 'id' | 'project_id' | 'experiment_id'>[]): Scope {
  const runIds = [...new Set(runs.map(({ id }) => id))];
  const project_id = onlyOne(runs.map((run) => run.project_id));
  const experiment_id = onlyOne(runs.map((run) => run.experiment_id));
  const [only] = runIds;
  const run = runIds.length === 1 && only !== undefined ? { run_id: only } : {};
  return { runIds, placement: { project_id, experiment_id, ...run } };
}

/** The primary metric of the scope; null when none is set. */
export function primaryOf({ ctx, definitions }: Parts, { placement, runIds }: Scope): Promise<string | null> {
  return definitions.primary(ctx.db, placement, runIds);
}

/** Throws validation_error while nobody can say which values are the better ones. */
export async function directionOf(
  { ctx, definitions }: Parts,
  { placement, runIds }: Scope,
  metric: string,
): Promise<Direction> {
  const [direction, other] = await definitions.directions(ctx.db, placement, runIds, metric);
  if (direction !== undefined && other === undefined) return direction;
  const why = other === undefined ? 'is not known' : 'is not the same in all of these runs';
  const remedy = `set it (svc metrics set ${metric} --direction minimize|maximize, or PUT /api/v1/metric-definitions/${metric})`;
  return failValidation({ path: 'metric', message: `the direction of "${metric}" ${why}: ${remedy}` });
}

function onlyOne(values: readonly (string | null)[]): string | null {
  const [first = null, ...others] = new Set(values);
  return others.length === 0 ? first : null;
}
