import type { AttemptKey, LogLine } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

/** Keys in canonical form. The log of an attempt that has none is empty. */
export interface Logs {
  /** The seq that the next line will get. */
  nextSeq(key: AttemptKey): Promise<number>;
  /** Gives the lines from that seq on to the present end to `take`, some at a time, in order; waits for it before it reads on. */
  readFrom(
    key: AttemptKey,
    seq: number,
    take: (lines: readonly LogLine[]) => void | Promise<void>,
  ): Promise<void>;
}

export const logsRef = serviceRef<Logs>('logs');
