import type { FailureReason } from '@svc/contract';
import type { JobRow } from './job-row.js';

/** Back-off of automatic retries: `firstMs`, doubling up to `maxMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** A retry without a change would fail in the same way. */
const NOT_RETRIED: ReadonlySet<FailureReason> = new Set(['OOM', 'EXIT_CODE', 'DISPATCH_FAILED']);

export function mayRetry(
  job: Pick<JobRow, 'attempt' | 'max_attempts'>,
  reason: FailureReason | null,
): boolean {
  return reason !== null && !NOT_RETRIED.has(reason) && job.attempt < job.max_attempts;
}

/** How long the attempt after `attempt` waits, in ms. */
export function backoffMs(attempt: number, { firstMs, maxMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}
