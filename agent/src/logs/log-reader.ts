import type { Pace } from '../core/pace.js';
import { LineSplitter, type Lines } from './line-splitter.js';
import { LogFile } from './log-file.js';
import { WHOLE_LOG, type LogHead } from './log-head.js';

/** `stale`: the reader was moved meanwhile. `emptied`: by the job, since the file was read before. */
export type LogRead = Readonly<{ found: 'lines' | 'nothing' | 'stale' | 'emptied'; lines: Lines }>;

const NO_LINES: Lines = { texts: [], ends: [] };

/** Reads one log as lines, from any line's end on. Positions are those of the log. */
export class LogReader {
  readonly #file: LogFile;
  readonly #replayPace: Pace;
  #splitter = new LineSplitter();
  #head: LogHead = WHOLE_LOG;
  /** What lies before it was there before the connection; null: not known yet. */
  #backlogTo: number | null = null;
  /** Raised by whatever makes a read in progress worthless. */
  #generation = 0;

  constructor(path: string, replayPace: Pace) {
    this.#file = new LogFile(path);
    this.#replayPace = replayPace;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Behind the last byte that was read. */
  get position(): number {
    return this.#splitter.position;
  }

  get head(): LogHead {
    return this.#head;
  }

  set head(head: LogHead) {
    if (head.start !== this.#head.start) this.#file.forgetBeginning();
    this.#head = head;
  }

  /** Reads on from there, on a new connection. */
  rewindTo(offset: number): void {
    this.discardRead();
    this.#splitter = new LineSplitter(offset);
    this.#backlogTo = null;
  }

  skipToHead(): void {
    this.#splitter = new LineSplitter(this.#head.to);
  }

  /** A read under way gives nothing. */
  discardRead(): void {
    this.#generation += 1;
  }

  /** What was written before the connection is read no faster than all streams together may send it; the rest at once. */
  async waitForPace(): Promise<void> {
    this.#backlogTo ??= this.#head.start.to + (await this.#file.sizeBytes());
    if (this.#isReplaying) await this.#replayPace.ready();
  }

  async read(buffer: Buffer): Promise<LogRead> {
    const generation = this.#generation;
    const read = await this.#file.read(buffer, this.position - this.#head.start.to);
    if (generation !== this.#generation) return { found: 'stale', lines: NO_LINES };
    const hasHole = this.#head.to > this.#head.start.to;
    if (!this.#file.isSame(read, hasHole)) return { found: 'emptied', lines: NO_LINES };
    if (read.bytes.length === 0) return { found: 'nothing', lines: NO_LINES };
    if (this.#isReplaying) this.#replayPace.spend(read.bytes.length);
    return { found: 'lines', lines: this.#splitter.push(read.bytes) };
  }

  /** The line that has no end yet, if there is one. */
  takePartialLine(): Lines {
    return this.#splitter.flush();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get #isReplaying(): boolean {
    return this.position < (this.#backlogTo ?? 0);
  }
}
