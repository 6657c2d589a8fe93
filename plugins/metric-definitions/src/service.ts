import type { Direction, Run } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';

/** Canonical ids; an experiment comes with its project. Both null: global. */
export type Placement = Pick<Run, 'project_id' | 'experiment_id'>;

/** How the values of a metric are interpreted. */
export interface MetricMeaning {
  readonly direction: Direction;
  readonly is_primary: boolean;
}

export interface MetricDefinitions {
  /** A global definition with the guessed direction for each of these that has none. Call it in the transaction that stores their first values, at `at` (ms). */
  ensure(db: Db, names: readonly string[], at: number): Promise<void>;
  /** What each of these names means there: the nearest level decides; without any definition the direction is guessed. */
  meanings(
    db: Db,
    placement: Placement,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, MetricMeaning>>;
}

export const metricDefinitionsRef = serviceRef<MetricDefinitions>('metric-definitions');
