/** One removal works at a time, in the order in which they come. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** Whether somebody waits for the one that works. */
  get isWaitedFor(): boolean {
    return this.#count > 1;
  }

  take<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1;
    const done = this.#last.then(work).finally(() => (this.#count -= 1));
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when nothing works or waits. */
  async settled(): Promise<void> {
    while (this.#count > 0) await this.#last;
  }
}
