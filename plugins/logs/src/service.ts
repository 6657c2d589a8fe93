import type { LogStream } from '@svc/contract';
import { serviceRef } from '@svc/kernel';
import type { FoundLines } from './log-tail.js';

export interface LogTailQuery {
  /** At most so many lines, the newest ones, and at most what an answer shows of a list in bytes. */
  readonly tail: number;
  readonly stream?: LogStream | undefined;
  /** Only lines that hold this text; the whole stored log is searched. */
  readonly search?: string | undefined;
}

/** `dropped` counts lines of the attempt that its agent had to give up. */
export interface LogTail extends FoundLines {
  readonly dropped: number;
}

export interface Logs {
  /** The newest lines of one attempt, oldest first; empty when it has none. `jobId` in canonical form. */
  tail(jobId: string, attempt: number, query: LogTailQuery): Promise<LogTail>;
}

export const logsRef = serviceRef<Logs>('logs');
