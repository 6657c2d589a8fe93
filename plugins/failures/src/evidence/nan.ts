import type { Citation, EventRecord, RunSummary } from '@svc/contract';
import { isLoss } from '@svc/signals';

const MAX_CITED = 5;

/** Losses whose last value is NaN, and the events that tell of a NaN. */
export function findNan({
  summary,
  events,
}: {
  readonly summary: RunSummary | null;
  readonly events: readonly EventRecord[];
}): Citation[] | null {
  const metrics = Object.entries(summary?.metrics ?? {})
    .filter(([name, { latest }]) => isLoss(name) && latest.value === 'NaN')
    .map(([metric, { latest }]) => ({ metric, step: latest.step, value: latest.value }));
  const told = events.filter(({ type }) => type === 'LOSS_NAN').map(({ id }) => ({ event_id: id }));
  const found = [...metrics, ...told].slice(0, MAX_CITED);
  return found.length > 0 ? found : null;
}
