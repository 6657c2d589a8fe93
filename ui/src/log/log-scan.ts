/** What a scan looks at. */
export interface ScanLine {
  readonly seq: number;
  readonly isError: boolean;
  /** Without escape sequences. */
  readonly text: string;
}

type Test = (line: ScanLine) => boolean;

/** A browser holds so many numbers with ease. */
const MAX_FOUND = 1_000_000;
/** Then frames are drawn and keys are read before it goes on. */
const SLICE_MS = 8;

/**
 * The numbers of all lines of a log that pass a test, in order: of those that are there, read once from the start, and of those that come.
 * The lines themselves are not kept.
 */
export class LogScan {
  /** Ascending. */
  readonly found: number[] = [];
  /** The seq of the first line that has not been looked at. */
  readTo = 0;
  isDone = false;
  /** There are more than `MAX_FOUND`. */
  isFull = false;
  /** It was stopped before the end. */
  isStopped = false;
  error: unknown = null;
  readonly #abort = new AbortController();
  /** Of lines that came meanwhile. */
  #late: number[] = [];

  constructor(
    private readonly test: Test,
    private readonly onChange: () => void,
  ) {}

  /** Looks at lines that are in memory, all at once. */
  readAll(lines: Iterable<ScanLine>): void {
    for (const line of lines) this.#look(line);
    this.#finish();
  }

  async read(source: (signal: AbortSignal) => AsyncIterable<readonly ScanLine[]>): Promise<void> {
    const { signal } = this.#abort;
    let sliceEndMs = performance.now() + SLICE_MS;
    try {
      for await (const lines of source(signal)) {
        for (const line of lines) this.#look(line);
        if (performance.now() > sliceEndMs) {
          this.onChange();
          await new Promise((resolve) => setTimeout(resolve));
          sliceEndMs = performance.now() + SLICE_MS;
        }
        if (signal.aborted || this.isFull) break;
      }
    } catch (error) {
      if (!signal.aborted) this.error = error;
    }
    if (!signal.aborted) this.#finish();
  }

  /** Lines that have just been printed. */
  add(lines: readonly ScanLine[]): void {
    for (const line of lines) {
      if (this.isDone) this.#look(line);
      else if (line.seq >= this.readTo && this.test(line)) this.#late.push(line.seq);
    }
  }

  /** What has been found stays. */
  stop(): void {
    if (this.isDone) return;
    this.isStopped = true;
    this.#abort.abort();
    this.#finish();
  }

  #finish(): void {
    this.isDone = true;
    for (const seq of this.#late.filter((late) => late >= this.readTo)) {
      this.#keep(seq);
      this.readTo = seq + 1;
    }
    this.#late = [];
    this.onChange();
  }

  #look(line: ScanLine): void {
    if (line.seq < this.readTo) return;
    this.readTo = line.seq + 1;
    if (this.test(line)) this.#keep(line.seq);
  }

  #keep(seq: number): void {
    if (this.found.length < MAX_FOUND) this.found.push(seq);
    else this.isFull = true;
  }
}
