/** Enough for a quarter of an hour of looks that are a second apart. Must hold: even, so that the newest stays when every other one goes. */
const MAX_NOTES = 1024;

/** Bytes of one age. */
export interface Slice {
  /** They were written by then, in ms since the epoch. */
  readonly at: number;
  /** The offset behind them. */
  readonly to: number;
}

/** When the bytes of a growing file were written, in constant memory: the longer the time that it covers, the more roughly. */
export class LogAges {
  #notes: Slice[] = [];
  /** A note that comes sooner behind the last but one takes the place of the last. */
  #gapMs = 0;

  /** The file has `sizeBytes`, and was last written at that time. */
  note(sizeBytes: number, at: number): void {
    const [before, last] = [this.#notes.at(-2), this.#notes.at(-1)];
    if (sizeBytes <= (last?.to ?? 0)) return;
    if (before !== undefined && Math.abs(at - before.at) < this.#gapMs) this.#notes.pop();
    this.#notes.push({ at, to: sizeBytes });
    if (this.#notes.length === MAX_NOTES) this.#thin();
  }

  /** What lies before the offset is not asked for any more. */
  forget(offset: number): void {
    const kept = this.#notes.findIndex(({ to }) => to > offset);
    if (kept === 0) return;
    this.#notes = kept < 0 ? [] : this.#notes.slice(kept);
    if (kept < 0) this.#gapMs = 0;
  }

  /** What begins at `offset`, with `more` slices behind it; null when nothing is known to be there. */
  sliceAt(offset: number, more = 0): Slice | null {
    const index = this.#notes.findIndex(({ to }) => to > offset);
    const first = this.#notes[index];
    if (first === undefined) return null;
    const last = this.#notes[Math.min(index + more, this.#notes.length - 1)] ?? first;
    return { at: first.at, to: last.to };
  }

  /** As `sliceAt`, of about one of `parts` equal numbers of slices. */
  partAt(offset: number, parts: number): Slice | null {
    return this.sliceAt(offset, Math.floor(this.#notes.length / parts));
  }

  #thin(): void {
    this.#notes = this.#notes.filter((_, index) => index % 2 === 1);
    const coveredMs = Math.abs(this.#notes.at(-1)!.at - this.#notes[0]!.at);
    this.#gapMs = (2 * coveredMs) / MAX_NOTES;
  }
}
