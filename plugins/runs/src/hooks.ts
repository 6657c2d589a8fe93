import type { Run } from '@svc/contract';
import { observation, type Change } from '@svc/kernel';

/** Fired after the commit. The records contain only a part of a large config or environment, as lists do. */
export const runChanged = observation<[change: Change<Run>]>('runs.changed');

/** Fired once it is decided that the run is deleted, which then takes a moment. */
export const runDeleted = observation<[run: Run]>('runs.deleted');
