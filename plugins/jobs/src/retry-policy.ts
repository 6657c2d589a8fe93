import { RETRIED_REASONS, type FailureReason } from '@svc/contract';
import type { JobRow } from './job-row.js';

/** Back-off of automatic retries: `firstMs`, doubling up to `maxMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

const RETRIED: ReadonlySet<FailureReason> = new Set(RETRIED_REASONS);

export function mayRetry(
  job: Pick<JobRow, 'attempt' | 'max_attempts'>,
  reason: FailureReason | null,
): boolean {
  return reason !== null && RETRIED.has(reason) && job.attempt < job.max_attempts;
}

/** How long the attempt after `attempt` waits, in ms. */
export function backoffMs(attempt: number, { firstMs, maxMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}
