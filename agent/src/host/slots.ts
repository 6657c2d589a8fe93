import type { SlotSpec } from '@svc/contract';
import type { SlotSource } from '../core/collector.js';
import { toReason, type AgentLog } from '../core/log.js';

/** The slots of all sources. A source that cannot tell its GPUs offers none, and the host still takes jobs without. */
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
  return (await Promise.all(discovered)).flat();
}
