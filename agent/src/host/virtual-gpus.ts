import type { SlotSpec } from '@svc/contract';
import type { SlotSource } from '../core/collector.js';

/** Slots that stand for no device, for trying out and for tests. */
export function virtualGpus(count: number): SlotSource {
  const toSlot = (index: number): SlotSpec => ({
    index,
    uuid: `virtual-${index}`,
    model: 'virtual',
    memory_total_mb: null,
    virtual: true,
  });
  return {
    name: 'virtual',
    discover: async () => Array.from({ length: count }, (_, index) => toSlot(index)),
  };
}
