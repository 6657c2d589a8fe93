import type { AttemptKey, LogLine } from '@svc/contract';
import { serviceRef } from '@svc/kernel';

export interface Failures {
  /** The last error lines of the log, oldest first. The key in canonical form. */
  lastErrors(key: AttemptKey, count: number): Promise<readonly LogLine[]>;
}

export const failuresRef = serviceRef<Failures>('failures');
