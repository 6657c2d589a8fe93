import { inspectArchive, type ArchiveLimits } from './inspect-archive.js';

/** Each holds a processor and the memory of what it inspects, so few take place at once; the others wait. */
export class Inspections {
  readonly #limits: ArchiveLimits;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limits: ArchiveLimits, atOnce: number) {
    this.#limits = limits;
    this.#free = atOnce;
  }

  /** The number of files in the archive. Rejects as `inspectArchive` does. */
  async inspect(file: string, signal: AbortSignal): Promise<number> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await inspectArchive(file, this.#limits, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
