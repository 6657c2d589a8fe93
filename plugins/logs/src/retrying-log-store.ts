import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { AttemptLog } from './attempt-log.js';
import type { LogStore } from './log-store.js';

/** A damaged file is read to its damage each time. */
const LOOK_AGAIN_MS = 10_000;

type Answer = (log: AttemptLog) => void;

interface Unreadable {
  readonly key: AttemptKey;
  readonly owed: Answer[];
}

/** The logs as agents need them: one that cannot be read is said once, holds up nobody, and is looked at again by itself. */
export class RetryingLogStore {
  readonly #unreadable = new Map<string, Unreadable>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'log' | 'clock' | 'signal'>,
    private readonly store: LogStore,
  ) {}

  /**
   * Runs `use` with the log. If the log cannot be read it runs `later` instead, once it can be; without `later` nothing is owed to
   * anybody from then on.
   */
  async with(key: AttemptKey, use: (log: AttemptLog) => Promise<void>, later?: Answer): Promise<void> {
    if (!this.#unreadable.has(nameOf(key))) {
      try {
        return await this.store.with(key.job_id, key.attempt, use);
      } catch (err) {
        this.#setAside(key, err);
      }
    }
    const { owed } = this.#unreadable.get(nameOf(key))!;
    if (later) owed.push(later);
    else owed.length = 0;
  }

  #setAside(key: AttemptKey, err: unknown): void {
    if (this.#unreadable.has(nameOf(key))) return;
    const file = this.store.pathOf(key.job_id, key.attempt);
    this.ctx.log.error(
      { err, ...key },
      `the log ${file} or ${file}.gz cannot be read: nothing is taken for it until it can be`,
    );
    this.#unreadable.set(nameOf(key), { key, owed: [] });
    this.#lookAgainLater(key);
  }

  #lookAgainLater(key: AttemptKey): void {
    const { clock, signal } = this.ctx;
    if (signal.aborted) return;
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', timer.clear);
      void this.#lookAgain(key);
    }, LOOK_AGAIN_MS);
    signal.addEventListener('abort', timer.clear);
  }

  async #lookAgain(key: AttemptKey): Promise<void> {
    try {
      await this.store.with(key.job_id, key.attempt, async (log) => {
        const { owed } = this.#unreadable.get(nameOf(key))!;
        this.#unreadable.delete(nameOf(key));
        for (const answer of owed) answer(log);
      });
      this.ctx.log.info(key, 'the log can be read again');
    } catch {
      this.#lookAgainLater(key);
    }
  }
}

function nameOf({ job_id, attempt }: AttemptKey): string {
  return `${job_id}/${attempt}`;
}
