import { isAnswerable, systemClock, type Timer } from '@svc/hooks';
import type { Authorize } from './authorize.js';

/** Ends open answers and sockets whose token is revoked or expires. It checks in real time, and only while something is open. */
export class TokenWatch {
  readonly #open = new Map<string, Set<() => void>>();
  #timer: Timer | null = null;
  #isChecking = false;

  constructor(
    private readonly authorize: Authorize,
    private readonly everyMs: number,
  ) {}

  /** Calls `end` when the token in that `Authorization` header is no longer valid; returns a function that stops watching. */
  watch(authorization: string, end: () => void): () => void {
    const ends = this.#open.get(authorization) ?? new Set();
    this.#open.set(authorization, ends.add(end));
    this.#timer ??= systemClock.setInterval(() => void this.#check(), this.everyMs);
    return () => {
      ends.delete(end);
      if (ends.size === 0 && this.#open.get(authorization) === ends) this.#forget(authorization);
    };
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    await Promise.all([...this.#open.keys()].map((authorization) => this.#endIfRefused(authorization)));
    this.#isChecking = false;
  }

  async #endIfRefused(authorization: string): Promise<void> {
    if (!(await this.#isRefused(authorization))) return;
    const ends = this.#open.get(authorization) ?? [];
    this.#forget(authorization);
    for (const end of ends) end();
  }

  /** If the check itself fails, such as in an outage of the database, the token is not refused. */
  async #isRefused(authorization: string): Promise<boolean> {
    try {
      await this.authorize(authorization, 'any');
      return false;
    } catch (error) {
      return isAnswerable(error) && 'code' in error && /^(unauthorized|forbidden)$/.test(error.code);
    }
  }

  #forget(authorization: string): void {
    this.#open.delete(authorization);
    if (this.#open.size > 0) return;
    this.#timer?.clear();
    this.#timer = null;
  }
}
