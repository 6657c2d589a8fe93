import type { Citation, EventRecord, RunSummary } from '@svc/contract';
import { isLoss } from '@svc/signals';

const MAX_CITED = 5;

/** Losses whose last value is NaN, and the events that tell of a NaN, unless every loss has recovered since. */
export function findNan({
  summary,
  events,
}: {
  readonly summary: RunSummary | null;
  readonly events: readonly EventRecord[];
}): Citation[] | null {
  const losses = Object.entries(summary?.metrics ?? {}).filter(([name]) => isLoss(name));
  if (losses.length > 0 && losses.every(([, { latest }]) => typeof latest.value === 'number')) return null;
  const metrics = losses
    .filter(([, { latest }]) => latest.value === 'NaN')
    .map(([metric, { latest }]) => ({ metric, step: latest.step, value: latest.value }));
  const told = events.filter(({ type }) => type === 'LOSS_NAN').map(({ id }) => ({ event_id: id }));
  const found = [...metrics, ...told].slice(0, MAX_CITED);
  return found.length > 0 ? found : null;
}
