/**
 * Runs work of one key one at a time, in order; different keys at once. What is under way is weighed, so that its source can
 * be held back.
 */
export class OrderedWork {
  readonly #tails = new Map<string, Promise<unknown>>();
  #weight = 0;

  /** What is queued or running, in the unit that `run` is given. */
  get weight(): number {
    return this.#weight;
  }

  run<T>(key: string, weight: number, work: () => Promise<T>): Promise<T> {
    this.#weight += weight;
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const tail = result
      .catch(() => undefined)
      .then(() => {
        this.#weight -= weight;
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves once all of it is done. */
  async settle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
