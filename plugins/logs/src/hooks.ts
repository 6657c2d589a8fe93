import type { LogLine } from '@svc/contract';
import { observation } from '@svc/kernel';

export type LineBatch = {
  readonly job_id: string;
  readonly attempt: number;
  readonly lines: readonly LogLine[];
};

/** Fired with the new lines of a frame as soon as they can be read. */
export const linesAppended = observation<[batch: LineBatch]>('logs.linesAppended');
