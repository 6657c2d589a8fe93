import { yieldIfSliceOver } from '@svc/kernel';
import type { Parts } from './parts.js';
import type { Candidate } from './standing.js';

/** Of candidates that tie, the older first: the first whose run has no OVERFITTING_SUSPECTED event, or else the first. null for none. */
export async function chooseWinner<C extends Candidate>(
  { ctx, events }: Parts,
  tied: readonly C[],
): Promise<C | null> {
  const [first = null] = tied;
  if (tied.length < 2) return first;
  const suspected = new Map<string, boolean>();
  for (const candidate of tied) {
    await yieldIfSliceOver();
    const { run_id } = candidate;
    if (!suspected.has(run_id)) {
      const filter = { run_id, type: 'OVERFITTING_SUSPECTED' };
      suspected.set(run_id, (await events.list(ctx.db, filter, 1)).length > 0);
    }
    if (suspected.get(run_id) === false) return candidate;
  }
  return first;
}

/** Every one of them when several tie. */
export function tiedIds(tied: readonly Candidate[]): string[] {
  return tied.length > 1 ? tied.map(({ id }) => id) : [];
}
