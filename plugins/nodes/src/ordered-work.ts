/**
 * Runs the tasks of one key one at a time, in order, and those of different keys concurrently. It sums up the weight of what is queued or
 * running, so that the caller can apply back-pressure.
 */
export class OrderedWork {
  readonly #tails = new Map<string, Promise<unknown>>();
  #weight = 0;

  /** The sum of what is queued or running, in the unit of `run`. */
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

  /** Resolves once nothing is queued or running. */
  async settle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
