import type { Run } from '@svc/contract';
import { decision, observation, type Change, type Db } from '@svc/kernel';

/** Fired after the commit. The records contain only a part of a large config or environment, as lists do. */
export const runChanged = observation<[change: Change<Run>]>('runs.changed');

/** Fired once it is decided that the run is deleted, which then takes a moment. */
export const runDeleted = observation<[run: Run]>('runs.deleted');

/** Ids in canonical form. The placement, both null for everywhere, decides which values are the better ones. */
export interface MetricValuesQuery {
  readonly run_ids: readonly string[];
  readonly name: string;
  readonly which: 'last' | 'best';
  readonly project_id: string | null;
  readonly experiment_id: string | null;
}

/**
 * The values of a metric by the ids of those of these runs that have one. Throws validation_error when nobody knows which is the best. The
 * plugin that keeps the points answers.
 */
export const readMetricValues = decision.firstAnswer<
  [db: Db, query: MetricValuesQuery],
  ReadonlyMap<string, number>
>('runs.readMetricValues');
