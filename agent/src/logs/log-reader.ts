import type { Pace } from '../core/pace.js';
import type { Clock } from '../core/runner.js';
import { LineSplitter, type Lines } from './line-splitter.js';
import { LogAges } from './log-ages.js';
import { LogFile } from './log-file.js';
import { WHOLE_LOG, type LogHead } from './log-head.js';

/** `stale`: the reader was moved meanwhile. `emptied`: by the job, since the file was read before. */
export type LogRead = Readonly<{ found: 'lines' | 'nothing' | 'stale' | 'emptied'; lines: Lines }>;

const NO_LINES: Lines = { texts: [], ends: [] };

/** Reads one log as lines, from any line's end on. Positions are those of the log. */
export class LogReader {
  readonly #file: LogFile;
  readonly #replayPace: Pace;
  readonly #clock: Clock;
  /** When the lines that the server does not have were written. */
  ages = new LogAges();
  #splitter = new LineSplitter();
  #head: LogHead = WHOLE_LOG;
  /** What lies before it was there before the connection; null: not known yet. */
  #backlogTo: number | null = null;
  /** Raised by whatever makes a read in progress worthless. */
  #generation = 0;

  constructor(path: string, replayPace: Pace, clock: Clock) {
    this.#file = new LogFile(path);
    this.#replayPace = replayPace;
    this.#clock = clock;
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
    if (head.start !== this.#head.start) {
      this.#file.forgetBeginning();
      this.ages = new LogAges();
    }
    this.#head = head;
  }

  /** To be called before the first read. What an earlier agent, or none, has seen was written by the time of the last write. */
  async lookAtStart(): Promise<void> {
    // What cannot be read now costs a time, not a line.
    const file = await this.#file.stat().catch(() => null);
    if (file !== null) this.noteSize(file.size, clamp(Math.round(file.mtimeMs), this.#clock.now()));
  }

  /** The file has that size now. Must hold: it has not been emptied since. */
  noteSize(sizeBytes: number, at: number): void {
    this.ages.note(this.#head.start.to + sizeBytes, at);
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
    this.#backlogTo ??= await this.#measureBacklog();
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

  async #measureBacklog(): Promise<number> {
    const { start } = this.#head;
    const file = await this.#file.stat();
    if (file !== null && start === this.#head.start) this.noteSize(file.size, this.#clock.now());
    return start.to + (file?.size ?? 0);
  }

  /** The line that has no end yet, if there is one. */
  takePartialLine(): Lines {
    return this.#splitter.flush();
  }

  /** What there is of that line now. */
  get partialText(): string {
    return this.#splitter.partialText;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get #isReplaying(): boolean {
    return this.position < (this.#backlogTo ?? 0);
  }
}

/** A job may set the time of its file to whatever it wants. */
function clamp(writtenAt: number, now: number): number {
  return Math.max(0, Math.min(writtenAt, now));
}
