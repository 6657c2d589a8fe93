import type { SlotSpec } from '@svc/contract';
import type { SlotSource } from '../core/collector.js';
import { toReason, type AgentLog } from '../core/log.js';

/**
 * The slots of all sources. A source that cannot tell its GPUs offers none, and the host still takes jobs without. Of two slots with one index, as of a
 * host with GPUs of two makers, that of the source that comes first in the list of plugins stays.
 */
export async function discoverSlots(
  sources: readonly SlotSource[],
  log: AgentLog,
  signal: AbortSignal,
): Promise<SlotSpec[]> {
  const discovered = sources.map(async (source) => {
    try {
      return await source.discover(signal);
    } catch (error) {
      log.error('the GPUs of this host cannot be told: it offers none', {
        source: source.name,
        reason: toReason(error),
      });
      return [];
    }
  });
  const slots = new Map<number, SlotSpec>();
  for (const slot of (await Promise.all(discovered)).flat()) {
    const taken = slots.get(slot.index);
    if (taken === undefined) slots.set(slot.index, slot);
    else
      log.warn('a GPU is left out: another one has its index', {
        index: slot.index,
        left_out: slot.model,
        kept: taken.model,
      });
  }
  return [...slots.values()];
}
