import type { LogLine } from '@svc/contract';

export const RING_LINES = 2000;
const RING_BYTES = 8 * 1024 * 1024;

/** The newest lines of a log in memory, oldest first. Tail reads and live streams are answered from them. */
export class LogRing {
  #lines: LogLine[] = [];
  #sizeBytes = 0;

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(lines: readonly LogLine[]): void {
    for (const line of lines) {
      this.#lines.push(line);
      this.#sizeBytes += weigh(line);
    }
    let surplus = 0;
    while (
      this.#lines.length - surplus > RING_LINES ||
      (this.#sizeBytes > RING_BYTES && surplus < this.#lines.length)
    ) {
      this.#sizeBytes -= weigh(this.#lines[surplus] as LogLine);
      surplus += 1;
    }
    if (surplus > 0) this.#lines = this.#lines.slice(surplus);
  }

  /** Removes the lines from that seq on. */
  truncate(nextSeq: number): void {
    while ((this.#lines.at(-1)?.seq ?? -1) >= nextSeq) this.#sizeBytes -= weigh(this.#lines.pop() as LogLine);
  }
}

function weigh({ text }: LogLine): number {
  return 2 * text.length + 100;
}
