import type { Direction, MetricDefinition, Run } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';

/** Canonical ids; an experiment comes with its project, a run with both that it has. None at all: global. */
export type Placement = Pick<Run, 'project_id' | 'experiment_id'> & { readonly run_id?: string };

/** How the values of a metric are interpreted. */
export interface MetricMeaning {
  readonly direction: Direction;
  /** Nobody has set the direction. */
  readonly guessed: boolean;
  /** The word of the name that a guessed direction comes from. */
  readonly guessed_from: string | null;
  readonly is_primary: boolean;
}

export interface DefinitionChange extends Partial<
  Pick<MetricDefinition, 'direction' | 'unit' | 'description'>
> {
  /** false: this metric is no longer primary; another primary metric is left alone. */
  readonly is_primary?: boolean;
}

export interface Defined {
  readonly definition: MetricDefinition;
  readonly isNew: boolean;
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
  /**
   * The primary metric there. Where none is set, that of the definitions of these runs, if they name one and the same; null: none. Ids
   * in canonical form.
   */
  primary(db: Db, placement: Placement, runIds: readonly string[]): Promise<string | null>;
  /**
   * The direction of a metric for values of several runs: as it is set there, else as the definitions of these runs set it, else as its
   * name tells. None: unknown. Two: the runs contradict each other.
   */
  directions(db: Db, placement: Placement, runIds: readonly string[], name: string): Promise<Direction[]>;
  /** Creates or updates the definition of a metric at the level of a run. It applies to that run alone. Throws validation_error, conflict. */
  define(db: Db, run: Run, name: string, change: DefinitionChange, at: number): Promise<Defined>;
}

export const metricDefinitionsRef = serviceRef<MetricDefinitions>('metric-definitions');
