import type { GpuProcess, HostProcess, SlotSpec } from '@svc/contract';
import { MAX_HOST_PROCESSES } from '@svc/contract/protocol';
import type { HostCollector, Measured } from '../core/collector.js';
import { toReason, type AgentLog } from '../core/log.js';
import { within } from '../core/within.js';

/** What takes longer is left out of the sample. */
const MEASURE_MS = 1_500;

/** The collectors of this host: together they make a sample, and none spoils what the others have measured. */
export class HostCollectors {
  readonly #collectors: readonly HostCollector[];
  readonly #log: AgentLog;
  readonly #measuring = new Set<HostCollector>();
  /** The last failure of each: it is told once, until the collector measures again. */
  readonly #failures = new Map<HostCollector, string>();

  constructor(collectors: readonly HostCollector[], log: AgentLog) {
    this.#collectors = collectors;
    this.#log = log;
  }

  start(slots: readonly SlotSpec[]): void {
    for (const collector of this.#collectors) collector.start?.(slots);
  }

  async measure(): Promise<Measured> {
    const sample: Measured = {};
    const measuring = this.#collectors.map((collector) => this.#measure(collector, sample));
    await within(Promise.all(measuring), MEASURE_MS);
    return { ...sample };
  }

  processes(): GpuProcess[] {
    return this.#collectors.flatMap((collector) => [...(collector.processes?.() ?? [])]);
  }

  hostProcesses(): HostProcess[] {
    const processes = this.#collectors.flatMap((collector) => [...(collector.hostProcesses?.() ?? [])]);
    return processes.slice(0, MAX_HOST_PROCESSES);
  }

  close(): void {
    for (const collector of this.#collectors) collector.close?.();
  }

  async #measure(collector: HostCollector, sample: Measured): Promise<void> {
    if (this.#measuring.has(collector)) return;
    this.#measuring.add(collector);
    try {
      Object.assign(sample, await collector.measure());
      this.#failures.delete(collector);
    } catch (error) {
      this.#complain(collector, toReason(error));
    } finally {
      this.#measuring.delete(collector);
    }
  }

  #complain(collector: HostCollector, reason: string): void {
    if (this.#failures.get(collector) === reason) return;
    this.#failures.set(collector, reason);
    this.#log.warn('a collector cannot measure', { collector: collector.name, reason });
  }
}
