import type { RunContext } from '@svc/agent';
import { toEngineReason, type Engine } from './engine.js';
import { tellInLog } from './prepare.js';

const LOOK_MS = 500;
/** An engine that is restarted is back by then. */
const PATIENCE_MS = 120_000;

/** While an attempt is being started: tells its log that the engine does not answer, and gives up when it stays so. */
export class EngineWatch {
  /** Aborts when the attempt is stopped, the agent closes, or the engine stays away. */
  readonly signal: AbortSignal;
  readonly #engine: Engine;
  readonly #ctx: RunContext<unknown>;
  readonly #patience = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #awaySince: number | null = null;
  #told = '';

  constructor(engine: Engine, ctx: RunContext<unknown>) {
    this.#engine = engine;
    this.#ctx = ctx;
    this.signal = AbortSignal.any([ctx.stopping, ctx.signal, this.#patience.signal]);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get hasGivenUp(): boolean {
    return this.#patience.signal.aborted && !this.#ctx.stopping.aborted && !this.#ctx.signal.aborted;
  }

  /** Rejects when the signal aborts, whatever the engine does. */
  guard<T>(asked: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(this.signal.reason as Error);
      if (this.signal.aborted) onAbort();
      this.signal.addEventListener('abort', onAbort, { once: true });
      asked.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', onAbort));
    });
  }

  /** In the log of the job, once for each reason in a row. */
  tell(error: unknown): void {
    this.#tell(toEngineReason(error, this.#engine.socket));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { trouble } = this.#engine;
    if (trouble === null) return void (this.#awaySince = null);
    this.#awaySince ??= performance.now();
    this.#tell(trouble);
    if (performance.now() - this.#awaySince > PATIENCE_MS) this.#patience.abort(new Error(trouble));
  }

  #tell(reason: string): void {
    if (this.#told === reason) return;
    this.#told = reason;
    tellInLog(this.#ctx, `[svc] waiting for the container engine: ${reason}`);
  }
}
