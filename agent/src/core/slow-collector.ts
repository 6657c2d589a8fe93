import type { GpuProcess, HostProcess, SlotSpec } from '@svc/contract';
import type { HostCollector, Measured } from './collector.js';
import { toReason, type AgentLog } from './log.js';

export interface SlowAnswer {
  readonly measured: Measured;
  readonly processes?: readonly GpuProcess[];
  readonly hostProcesses?: readonly HostProcess[];
}

export interface SlowCollectorOptions {
  readonly name: string;
  readonly everyMs: number;
  readonly log: AgentLog;
  /** `signal` aborts when the agent closes. */
  ask(signal: AbortSignal): Promise<SlowAnswer>;
  /** Left out: it is wanted on every host. */
  isWanted?(slots: readonly SlotSpec[]): boolean;
}

/** Figures that a program must be started for: it is asked in intervals of its own, one question at a time, and each answer is in one sample. */
export class SlowCollector implements HostCollector {
  readonly name: string;
  readonly of = 'host';
  readonly #options: SlowCollectorOptions;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #answer: SlowAnswer = { measured: {} };
  #reported: SlowAnswer | null = null;
  /** Told once, until there is an answer again. */
  #failure: string | null = null;

  constructor(options: SlowCollectorOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(slots: readonly SlotSpec[]): void {
    if (this.#options.isWanted?.(slots) === false) return;
    void this.#ask();
    this.#timer = setInterval(() => void this.#ask(), this.#options.everyMs).unref();
  }

  measure(): Measured {
    if (this.#reported === this.#answer) return {};
    this.#reported = this.#answer;
    return this.#answer.measured;
  }

  processes(): readonly GpuProcess[] {
    return this.#answer.processes ?? [];
  }

  hostProcesses(): readonly HostProcess[] {
    return this.#answer.hostProcesses ?? [];
  }

  close(): void {
    this.#closing.abort();
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const { signal } = this.#closing;
    if (this.#isAsking || signal.aborted) return;
    this.#isAsking = true;
    try {
      this.#answer = await this.#options.ask(signal);
      this.#failure = null;
    } catch (error) {
      this.#answer = { measured: {} };
      if (!signal.aborted) this.#complain(toReason(error));
    } finally {
      this.#isAsking = false;
    }
  }

  #complain(reason: string): void {
    if (this.#failure === reason) return;
    this.#failure = reason;
    this.#options.log.warn('a collector cannot measure', { collector: this.name, reason });
  }
}
