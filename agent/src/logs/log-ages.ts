const MAX_NOTES = 64;

/** Bytes of one age. */
export interface Slice {
  /** They were written by then. */
  readonly at: number;
  /** The offset behind them. */
  readonly to: number;
}

/** When the bytes of a growing file were written, in constant memory: the longer it is, the more roughly. */
export class LogAges {
  #notes: readonly Slice[] = [];

  /** The file has `sizeBytes` at that time. */
  note(sizeBytes: number, at: number): void {
    if (sizeBytes <= (this.#notes.at(-1)?.to ?? 0)) return;
    const notes = [...this.#notes, { at, to: sizeBytes }];
    this.#notes = notes.length > MAX_NOTES ? notes.filter((_, index) => index % 2 === 1) : notes;
  }

  /** What begins at `offset`; null when nothing is known to be there. */
  sliceAt(offset: number): Slice | null {
    return this.#notes.find(({ to }) => to > offset) ?? null;
  }
}
