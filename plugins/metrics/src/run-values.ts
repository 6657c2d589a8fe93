import { isDirectionKnown } from '@svc/contract';
import { failValidation, yieldIfSliceOver, type Db } from '@svc/kernel';
import type { MetricDefinitions } from '@svc/plugin-metric-definitions';
import type { MetricValuesQuery } from '@svc/plugin-runs';
import type { Digest } from './digest.js';
import type { PointStore } from './point-store.js';

const RUNS_AT_ONCE = 500;

/** Of one metric, by the ids of those of these runs that have it. */
export async function digestsOfRuns(
  store: PointStore,
  runIds: readonly string[],
  name: string,
): Promise<ReadonlyMap<string, Digest>> {
  const found = new Map<string, Digest>();
  for (let at = 0; at < runIds.length; at += RUNS_AT_ONCE) {
    await yieldIfSliceOver();
    const some = await store.read((rows) => rows.digestsOf(runIds.slice(at, at + RUNS_AT_ONCE), name));
    for (const [id, digest] of some) found.set(id, digest);
  }
  return found;
}

/** Values by which runs are sorted. The best is among the finite values. */
export async function valuesOfRuns(
  store: PointStore,
  definitions: MetricDefinitions,
  db: Db,
  { run_ids, name, which, ...placement }: MetricValuesQuery,
): Promise<ReadonlyMap<string, number>> {
  const end = which === 'last' ? 'last' : await endOfBest(definitions, db, name, placement);
  const digests = await digestsOfRuns(store, run_ids, name);
  return new Map(
    [...digests].flatMap(([id, digest]) => (digest[end] ? [[id, digest[end].value] as const] : [])),
  );
}

async function endOfBest(
  definitions: MetricDefinitions,
  db: Db,
  name: string,
  placement: Pick<MetricValuesQuery, 'project_id' | 'experiment_id'>,
): Promise<'min' | 'max'> {
  const meaning = (await definitions.meanings(db, placement, [name])).get(name);
  if (meaning && isDirectionKnown(meaning)) return meaning.direction === 'minimize' ? 'min' : 'max';
  const message = `the direction of "${name}" is not known: set it (svc metrics set ${name} --direction minimize|maximize), or sort by last:${name}`;
  return failValidation({ path: 'sort', message });
}
