import type { Run } from '@svc/contract';

/** The fields of a run without a job that signs of life, and their absence, change. Times in ms. */
export interface Life extends Pick<Run, 'status' | 'finished_at' | 'stale_since'> {
  /** When the last sign of life came; null for a run of a job. */
  readonly seen_at: number | null;
}

/** What a sign of life changes; null when nothing, because the run has ended. */
export function atSign({ status }: Life, at: number): Partial<Life> | null {
  if (status === 'RUNNING') return { seen_at: at, stale_since: null };
  return status === 'LOST' ? { status: 'RUNNING', finished_at: null, seen_at: at, stale_since: null } : null;
}

/**
 * What changes after a time without a sign of life; null when nothing. The run is stale after half of the time after which it is LOST.
 * A LOST run has ended with its last sign of life, as far as anybody knows.
 */
export function inSilence(
  { status, seen_at, stale_since }: Life,
  silentMs: number,
  lostAfterMs: number,
): Partial<Life> | null {
  if (status !== 'RUNNING' || seen_at === null) return null;
  if (silentMs >= lostAfterMs) return { status: 'LOST', finished_at: seen_at, stale_since: null };
  return stale_since === null && silentMs >= staleAfterMs(lostAfterMs) ? { stale_since: seen_at } : null;
}

export function staleAfterMs(lostAfterMs: number): number {
  return lostAfterMs / 2;
}
