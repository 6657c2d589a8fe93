/**
 * Does one piece of work at a time. Who asks while it is being done gets the next one, together with all others who ask until that
 * begins: so what everybody gets was begun after they asked.
 */
export class InTurn<T> {
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | null = null;

  constructor(private readonly work: () => Promise<T>) {}

  next(): Promise<T> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  /** Resolves when what was asked for before the call is done. */
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
