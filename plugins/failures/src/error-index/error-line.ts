import type { LogLine } from '@svc/contract';
import { isTrouble, splitRank } from '@svc/signals';

/** A space, and the bracket before a rank. */
const MAY_BE_FRAME: ReadonlySet<number> = new Set([0x20, 0x5b]);
const MAX_OPEN = 1000;
const FRAME = /^ +File ".+", line \d+/;

/** Which of the lines of one log are kept, one after the other. */
export class ErrorLines {
  /** The streams and ranks that are within a traceback. */
  readonly #open = new Set<string>();

  /** A traceback is kept up to its error, whatever the name of that is. */
  has({ stream, text }: Pick<LogLine, 'stream' | 'text'>): boolean {
    // Most lines end here.
    if (this.#open.size === 0 && !MAY_BE_FRAME.has(text.charCodeAt(0))) return isTrouble(text);
    const { rank, bare } = splitRank(text);
    const source = stream + rank;
    if (FRAME.test(bare)) this.#enter(source);
    else if (!this.#open.has(source)) return isTrouble(bare);
    else if (!/^\s/.test(bare)) this.#open.delete(source);
    return true;
  }

  #enter(source: string): void {
    if (this.#open.size >= MAX_OPEN) this.#open.clear();
    this.#open.add(source);
  }
}
