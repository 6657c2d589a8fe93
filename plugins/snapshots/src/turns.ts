/** Work on one thing is done one after the other; on different things, at the same time. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(thing: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(thing) ?? Promise.resolve()).then(work);
    const end: Promise<unknown> = mine
      .catch(() => undefined)
      .then(() => this.#last.get(thing) === end && this.#last.delete(thing));
    this.#last.set(thing, end);
    return mine;
  }
}
