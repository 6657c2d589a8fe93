import type { Knex } from 'knex';
import type { Logger } from '../logger.js';
import type { Db } from './connect.js';

/** A transaction. The function that makes a change registers what is to follow its commit; callers need not know. */
export type Tx = Knex.Transaction & {
  /** Registers a callback for after the commit. Callbacks start in order, are not awaited, and are dropped by a rollback. */
  afterCommit(run: () => unknown): void;
};

export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Runs transactions and the callbacks after their commits. */
export class Transactions {
  readonly #callbacks = new Set<Promise<void>>();

  constructor(private readonly log: Logger) {}

  async run<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
    const runs: (() => unknown)[] = [];
    const afterCommit = (run: () => unknown) => void runs.push(run);
    const result = await db.transaction((trx) => work(Object.assign(trx, { afterCommit })));
    for (const run of runs) this.#runCallback(run);
    return result;
  }

  /** Resolves once all callbacks are done. */
  async settled(): Promise<void> {
    while (this.#callbacks.size > 0) await Promise.all(this.#callbacks);
  }

  #runCallback(run: () => unknown): void {
    const done = (async () => void (await run()))()
      .catch((err: unknown) => this.log.error({ err }, 'a callback after a commit failed'))
      .finally(() => this.#callbacks.delete(done));
    this.#callbacks.add(done);
  }
}
