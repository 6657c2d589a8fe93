import type { RunnerProbe } from '@svc/contract';
import { toReason, type AgentLog } from '../core/log.js';
import type { Probe, RunnerAgent } from '../core/runner.js';
import { within } from '../core/within.js';

/** So long the first hello waits for what the runners say. */
const FIRST_WORD_MS = 20_000;
const SILENT: Probe = {
  available: false,
  reason: 'it has not said yet whether it can run here',
  version: null,
};

/** Whether each runner can run jobs here: its newest word. */
export class Fingerprints {
  readonly #latest = new Map<string, Probe>();
  readonly #onChange: () => void;
  readonly #signal: AbortSignal;
  readonly #log: AgentLog;

  constructor(signal: AbortSignal, log: AgentLog, onChange: () => void) {
    this.#signal = signal;
    this.#log = log;
    this.#onChange = onChange;
  }

  get probes(): RunnerProbe[] {
    return [...this.#latest].map(([name, probe]) => ({ name, ...probe }));
  }

  /** Listens to the runners from now on. Resolves when each has said its first word, or has had the time for it. */
  async start(runners: readonly RunnerAgent[]): Promise<void> {
    await within(Promise.all(runners.map((runner) => this.#untilFirstWord(runner))), FIRST_WORD_MS);
  }

  #untilFirstWord(runner: RunnerAgent): Promise<void> {
    this.#latest.set(runner.name, SILENT);
    return new Promise((resolve) => {
      void this.#follow(runner, resolve).finally(resolve);
    });
  }

  async #follow(runner: RunnerAgent, onWord: () => void): Promise<void> {
    try {
      for await (const probe of runner.fingerprint(this.#signal)) {
        this.#note(runner.name, probe);
        onWord();
      }
    } catch (error) {
      this.#note(runner.name, { available: false, reason: toReason(error), version: null });
    }
  }

  #note(name: string, { available, reason, version }: Probe): void {
    const before = JSON.stringify(this.#latest.get(name));
    const probe = { available, reason, version };
    this.#latest.set(name, probe);
    if (JSON.stringify(probe) === before || this.#signal.aborted) return;
    if (available) this.#log.info('a runner can run jobs here', { runner: name, version });
    else this.#log.info('a runner cannot run jobs here', { runner: name, reason });
    this.#onChange();
  }
}
