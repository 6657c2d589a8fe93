/**
 * Runs one piece of work at a time. All calls during a run share the next run, so the run that a call waits for always starts after the
 * call.
 */
export class CoalescedWork<T> {
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | null = null;

  constructor(private readonly work: () => Promise<T>) {}

  next(): Promise<T> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  /** Resolves when the running and the next run are over. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#running, this.#next]);
  }

  async #after(running: Promise<unknown>): Promise<T> {
    await running;
    this.#next = null;
    const done = this.work();
    this.#running = done.catch(() => undefined);
    return done;
  }
}
