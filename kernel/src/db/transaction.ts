import type { Knex } from 'knex';
import type { Logger } from '../logger.js';
import type { Db } from './connect.js';

/** A transaction. Who changes something in it says there what is to follow: callers carry nothing to announce. */
export type Tx = Knex.Transaction & {
  /** Called once the transaction has committed, in the order of the calls, and not at all when it is rolled back. Nobody waits for it. */
  afterCommit(run: () => unknown): void;
};

export type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Transactions, and the work that follows their commits. */
export class Transactions {
  readonly #following = new Set<Promise<void>>();

  constructor(private readonly log: Logger) {}

  async run<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
    const runs: (() => unknown)[] = [];
    const afterCommit = (run: () => unknown) => void runs.push(run);
    const result = await db.transaction((trx) => work(Object.assign(trx, { afterCommit })));
    for (const run of runs) this.#follow(run);
    return result;
  }

  /** Resolves once all that follows a commit is done. */
  async settled(): Promise<void> {
    while (this.#following.size > 0) await Promise.all(this.#following);
  }

  #follow(run: () => unknown): void {
    const done = (async () => void (await run()))()
      .catch((err: unknown) => this.log.error({ err }, 'what follows a commit failed'))
      .finally(() => this.#following.delete(done));
    this.#following.add(done);
  }
}
