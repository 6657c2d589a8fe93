import type { MetricPoint, Run } from '@svc/contract';
import { decision } from '@svc/kernel';

/** Before points are stored that an agent has read from files of a training: each tap returns those that are to be stored. */
export const foundPoints =
  decision.waterfall<[points: readonly MetricPoint[], run: Run]>('spool.foundPoints');
