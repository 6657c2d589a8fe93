import type { Run } from '@svc/contract';
import { observation, type Change } from '@svc/kernel';

/** After commit. Of a large config or environment the records have a part, as lists show them. */
export const runChanged = observation<[change: Change<Run>]>('runs.changed');
