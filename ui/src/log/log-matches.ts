import type { LogRow } from './log-buffer.js';
import { isMatch } from './log-search.js';

/** Indices of the rows that hold the searched text. While only rows are added, only those are looked at. */
export class LogMatches {
  found: number[] = [];
  #question = '';
  #seenUpTo = -1;

  /** Brings `found` up to date with the rows shown; returns how many matches went with rows given up at the front. */
  update(rows: readonly LogRow[], needle: string, filter: string): number {
    const question = `${filter} ${needle}`;
    if (question !== this.#question) this.#restart(question);
    if (needle === '') return 0;
    const gone = this.#forget(rows[0]?.index ?? Infinity);
    for (let at = firstAfter(rows, this.#seenUpTo); at < rows.length; at += 1) {
      if (isMatch(rows[at]!, needle)) this.found.push(rows[at]!.index);
    }
    this.#seenUpTo = rows.at(-1)?.index ?? this.#seenUpTo;
    return gone;
  }

  #restart(question: string): void {
    this.#question = question;
    this.found = [];
    this.#seenUpTo = -1;
  }

  #forget(firstKept: number): number {
    const at = this.found.findIndex((index) => index >= firstKept);
    const gone = at < 0 ? this.found.length : at;
    if (gone > 0) this.found.splice(0, gone);
    return gone;
  }
}

function firstAfter(rows: readonly LogRow[], index: number): number {
  let at = rows.length;
  while (at > 0 && rows[at - 1]!.index > index) at -= 1;
  return at;
}
