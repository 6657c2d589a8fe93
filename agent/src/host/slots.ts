import type { SlotSpec } from '@svc/contract';
import type { AgentLog } from '../core/log.js';
import type { GpuMeter } from './gpu-meter.js';

/** Where the GPU slots of this host come from. */
export interface GpuSource {
  readonly name: string;
  /** The GPUs there are, none when the host has none. Throws when they cannot be told. */
  discover(signal: AbortSignal): Promise<SlotSpec[]>;
  /** What measures them; left out: nothing does. */
  meter?(log: AgentLog): GpuMeter;
}

/** Slots that stand for no device, for trying out and for tests. */
export function virtualGpus(count: number): GpuSource {
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
