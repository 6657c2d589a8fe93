import type { SlotSpec } from '@svc/contract';
import type { SlotSource } from '../core/collector.js';
import type { HostSlot } from '../core/host-slot.js';
import { toReason, type AgentLog } from '../core/log.js';

/**
 * The slots of this host, of all sources. A source that cannot tell its GPUs offers none, and the host still takes jobs without. Of two slots with one
 * index, as of a host with GPUs of two makers, that of the source that comes first in the list of plugins stays.
 */
export class HostSlots {
  readonly #sources: readonly SlotSource[];
  readonly #log: AgentLog;
  readonly #onChange: () => void;
  readonly #bySource = new Map<SlotSource, readonly HostSlot[]>();
  readonly #leftOut = new Set<string>();

  /** `onChange` is called when a slot has come or gone, or its health has changed. */
  constructor(sources: readonly SlotSource[], log: AgentLog, onChange: () => void) {
    this.#sources = sources;
    this.#log = log;
    this.#onChange = onChange;
  }

  get all(): readonly HostSlot[] {
    const slots = new Map<number, HostSlot>();
    for (const slot of this.#sources.flatMap((source) => this.#bySource.get(source) ?? [])) {
      const taken = slots.get(slot.index);
      if (taken === undefined) slots.set(slot.index, slot);
      else this.#warnLeftOut(slot, taken);
    }
    return [...slots.values()];
  }

  /** As the server is told. */
  get specs(): SlotSpec[] {
    return this.all.map(({ cudaName: _, devices: __, ...spec }) => spec);
  }

  get facts(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#sources.map((source) => source.facts?.() ?? {})) as Record<
      string,
      string
    >;
  }

  /** Asks all sources, and follows them from then on. */
  async discover(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#sources.map((source) => this.#discover(source, signal)));
    for (const source of this.#sources)
      source.follow?.((slots) => {
        this.#bySource.set(source, slots);
        this.#onChange();
      });
  }

  /** Once for each GPU. */
  #warnLeftOut({ index, uuid, model }: HostSlot, { model: kept }: HostSlot): void {
    if (this.#leftOut.has(uuid)) return;
    this.#leftOut.add(uuid);
    this.#log.warn('a GPU is left out: another one has its index', { index, left_out: model, kept });
  }

  async #discover(source: SlotSource, signal: AbortSignal): Promise<void> {
    try {
      this.#bySource.set(source, await source.discover(signal));
    } catch (error) {
      this.#log.error('the GPUs of this host cannot be told: it offers none', {
        source: source.name,
        reason: toReason(error),
      });
    }
  }
}

/** What CUDA_VISIBLE_DEVICES holds for a job on these slots: empty without any. */
export function toVisibleDevices(slots: readonly HostSlot[], indices: readonly number[]): string {
  return indices
    .map((index) => slots.find((slot) => slot.index === index)?.cudaName ?? String(index))
    .join(',');
}
