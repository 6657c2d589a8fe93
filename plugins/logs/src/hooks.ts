import type { LogLine } from '@svc/contract';
import { observation } from '@svc/kernel';

export type LineBatch = {
  readonly job_id: string;
  readonly attempt: number;
  readonly lines: readonly LogLine[];
};

/** The lines of a frame that were new, as soon as they can be read. */
export const linesAppended = observation<[batch: LineBatch]>('logs.linesAppended');
