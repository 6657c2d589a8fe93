/** What a part of a page keeps; `rows`: so many records are in it. */
export interface Kept {
  readonly rows?: number;
}

const MOST_ENTRIES = 50;
/** Of all entries together. */
const MOST_ROWS = 20_000;

/**
 * What pages keep for the entries of the browser's history, so that somebody who goes back or forth finds a page as they left it: how
 * far it was scrolled, the rows that it had loaded. A link makes a new entry, for which nothing is kept. A reload forgets everything.
 */
class HistoryMemory {
  /** By the id of an entry; the one that was left last is the last one. */
  readonly #entries = new Map<string, Map<string, Kept>>();
  readonly #parts = new Map<string, () => Kept | null>();
  /** The entry whose page is shown, which is no longer that of the address while the next page is on its way; null: nothing is kept. */
  #shown: string | null = null;

  /** What the part of that name kept when the reader left the entry that is shown now. */
  get<T extends Kept>(name: string): T | undefined {
    return this.#shown === null ? undefined : (this.#entries.get(this.#shown)?.get(name) as T | undefined);
  }

  /** `read` is asked when the reader leaves; with null, what was kept before stays. Call the answer when the part goes. */
  keep(name: string, read: () => Kept | null): () => void {
    this.#parts.set(name, read);
    return () => {
      if (this.#parts.get(name) === read) this.#parts.delete(name);
    };
  }

  /** To be called while the page still stands as the reader leaves it. */
  leave(): void {
    if (this.#shown === null) return;
    const kept = new Map(this.#entries.get(this.#shown));
    for (const [name, read] of this.#parts) {
      const value = read();
      if (value !== null) kept.set(name, value);
    }
    this.#entries.delete(this.#shown);
    this.#entries.set(this.#shown, kept);
    this.#forgetOldest();
  }

  /** The page of the address is shown from now on; answers whether this is another entry than before. */
  arrive(): boolean {
    const before = this.#shown;
    this.#shown = idOfAddress();
    return this.#shown !== before;
  }

  forget(): void {
    this.#entries.clear();
    this.#shown = null;
  }

  #forgetOldest(): void {
    let entries = 0;
    let rows = 0;
    for (const [id, kept] of [...this.#entries].toReversed()) {
      entries += 1;
      for (const value of kept.values()) rows += value.rows ?? 0;
      if (entries > MOST_ENTRIES || rows > MOST_ROWS) this.#entries.delete(id);
    }
  }
}

export const historyMemory = new HistoryMemory();

let made = 0;

/** The browser keeps the id with the entry. */
function idOfAddress(): string {
  const state = history.state as { entry?: string } | null;
  if (state?.entry !== undefined) return state.entry;
  const entry = `${performance.timeOrigin} ${(made += 1)}`;
  history.replaceState({ ...state, entry }, '');
  return entry;
}
