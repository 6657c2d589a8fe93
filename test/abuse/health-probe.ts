import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Server } from '../support/workplace.js';

export interface Measured {
  readonly longestWaitMs: number;
  /** How many answers /health gave, by status (or by the code of the error where there was none). */
  readonly answers: Readonly<Record<string, number>>;
}

/** The longest that /health may keep anyone waiting, whatever others send. More only by hand, on a machine that is busy with others. */
export const BUDGET_MS = Number(process.env['SVC_ABUSE_BUDGET_MS'] ?? 250);

/** Asks for /health all the time, from a thread of its own. */
export class HealthProbe {
  readonly #worker: Worker;
  /** The budget on this machine: what it takes an idle server to answer under as much load is added, at most once over. */
  budgetMs = BUDGET_MS;

  constructor({ url, pid }: Server) {
    this.#worker = new Worker(new URL('./probe.mjs', import.meta.url), {
      workerData: { url, pid },
      execArgv: [],
    });
  }

  async beside<T>(work: () => Promise<T>): Promise<Measured & { readonly result: T }> {
    this.#worker.postMessage('begin');
    let result: T;
    try {
      result = await work();
    } catch (error) {
      await this.#end();
      throw error;
    }
    return { result, ...(await this.#end()) };
  }

  /** `trivialLoad`: the same generator against what costs the server nothing. */
  async calibrate(trivialLoad: () => Promise<unknown>): Promise<void> {
    const { longestWaitMs } = await this.beside(trivialLoad);
    this.budgetMs = BUDGET_MS + Math.min(longestWaitMs, BUDGET_MS);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #end(): Promise<Measured> {
    this.#worker.postMessage('end');
    const [measured] = (await once(this.#worker, 'message')) as [Measured];
    return measured;
  }
}
