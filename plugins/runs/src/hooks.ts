import type { Run } from '@svc/contract';
import { observation, type Change } from '@svc/kernel';

/** Fired after the commit. The records contain only a part of a large config or environment, as lists do. */
export const runChanged = observation<[change: Change<Run>]>('runs.changed');
