import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { AttemptLog } from './attempt-log.js';
import type { LogStore } from './log-store.js';

/** Each retry reads the file up to the damage, so it must be rare. */
const RETRY_AFTER_MS = 10_000;

type Answer = (log: AttemptLog) => void;

interface Unreadable {
  readonly key: AttemptKey;
  readonly pending: Answer[];
}

/** The logs for the intake: a log that cannot be read is reported once, delays no other log, and is retried automatically. */
export class RetryingLogStore {
  readonly #unreadable = new Map<string, Unreadable>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'log' | 'clock' | 'signal'>,
    private readonly store: LogStore,
  ) {}

  /**
   * Runs `use` with the log. If the log cannot be read, it runs `later` once it can be; a call without `later` discards the answers that
   * are pending for the log.
   */
  async with(key: AttemptKey, use: (log: AttemptLog) => Promise<void>, later?: Answer): Promise<void> {
    if (!this.#unreadable.has(nameOf(key))) {
      try {
        return await this.store.with(key.job_id, key.attempt, use);
      } catch (err) {
        this.#noteUnreadable(key, err);
      }
    }
    const { pending } = this.#unreadable.get(nameOf(key))!;
    if (later) pending.push(later);
    else pending.length = 0;
  }

  #noteUnreadable(key: AttemptKey, err: unknown): void {
    if (this.#unreadable.has(nameOf(key))) return;
    const file = this.store.pathOf(key.job_id, key.attempt);
    this.ctx.log.error(
      { err, ...key },
      `the log ${file} or ${file}.gz cannot be read: nothing is taken for it until it can be`,
    );
    this.#unreadable.set(nameOf(key), { key, pending: [] });
    this.#retryLater(key);
  }

  #retryLater(key: AttemptKey): void {
    const { clock, signal } = this.ctx;
    if (signal.aborted) return;
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', timer.clear);
      void this.#retry(key);
    }, RETRY_AFTER_MS);
    signal.addEventListener('abort', timer.clear);
  }

  async #retry(key: AttemptKey): Promise<void> {
    try {
      await this.store.with(key.job_id, key.attempt, async (log) => {
        const { pending } = this.#unreadable.get(nameOf(key))!;
        this.#unreadable.delete(nameOf(key));
        for (const answer of pending) answer(log);
      });
      this.ctx.log.info(key, 'the log can be read again');
    } catch {
      this.#retryLater(key);
    }
  }
}

function nameOf({ job_id, attempt }: AttemptKey): string {
  return `${job_id}/${attempt}`;
}
