import type { LogLine, LogsFrame } from '@svc/contract';
import type { LogFile } from './log-file.js';
import { EMPTY_STATE, isComplete, linesOf, toRecord, type LogRecord, type LogState } from './log-record.js';
import type { LogTailQuery } from './service.js';

/** What reads of the tail and live streams are answered from, without the disk. */
export const RING_LINES = 2000;
const RING_BYTES = 8 * 1024 * 1024;
/** Lines handed out at once to who reads on. */
const PAGE_LINES = 500;

/** Where a reader goes on: the next line it wants, and a byte of the file that is not behind that. */
export interface Cursor {
  readonly seq: number;
  readonly byte: number;
}

export interface Page {
  readonly lines: readonly LogLine[];
  readonly next: Cursor;
}

/**
 * The log of one attempt. The file is the truth: what is kept here can be had from it again. One write at a time, in the order of the
 * calls.
 */
export class AttemptLog {
  state: LogState = EMPTY_STATE;
  /** By the server's clock, in ms; 0: not since the server knows this log. */
  lastArrivalAt = 0;
  jobChanges = 0;
  private ring: LogLine[] = [];
  private ringBytes = 0;
  private sizeBytes = 0;
  private isCompressed = false;
  private version = 0;
  private readonly waiting: (() => void)[] = [];
  private writing: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly jobId: string,
    readonly attempt: number,
    private readonly file: LogFile,
  ) {}

  static async load(jobId: string, attempt: number, file: LogFile): Promise<AttemptLog> {
    const log = new AttemptLog(jobId, attempt, file);
    await log.recover();
    return log;
  }

  get isComplete(): boolean {
    return isComplete(this.state);
  }

  get memoryBytes(): number {
    return this.ringBytes;
  }

  /** Stores the frame if it is the next of its stream; returns the lines that are new. A rejection leaves the log as it was. */
  append(frame: LogsFrame, at: number): Promise<readonly LogLine[]> {
    const work = this.writing.then(() => this.appendNow(frame, at));
    this.writing = work.catch(() => undefined);
    return work;
  }

  /**
   * Compresses the file if the log is complete: nothing is written to it any more, so no append waits for it. One call at a time.
   * Rejects when `signal` aborts first, and leaves the log as it was.
   */
  async compress(signal?: AbortSignal): Promise<void> {
    if (!this.isComplete || this.isCompressed || this.sizeBytes === 0) return;
    await this.file.compress(this.sizeBytes, signal);
    this.isCompressed = true;
    await this.file.removePlain();
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.writing;
  }

  /** The newest lines that match, oldest first. */
  async tail(query: LogTailQuery): Promise<LogLine[]> {
    const inRing = this.ring.filter(matcher(query));
    const ringHasAll = (this.ring[0]?.seq ?? this.state.next_seq) === 0;
    if (ringHasAll || inRing.length >= query.tail) return inRing.slice(-query.tail);
    return this.isCompressed ? this.tailForward(query) : this.tailBackward(query);
  }

  /** Lines from the cursor on; none when there is no more yet. */
  async page(cursor: Cursor): Promise<Page> {
    const first = this.ring[0];
    if (cursor.seq >= this.state.next_seq) return { lines: [], next: cursor };
    if (first && cursor.seq >= first.seq) {
      const start = cursor.seq - first.seq;
      const lines = this.ring.slice(start, start + PAGE_LINES);
      return { lines, next: { seq: cursor.seq + lines.length, byte: cursor.byte } };
    }
    return this.pageOfFile(cursor);
  }

  /** Every line from the start, in batches, as far as the log goes now. */
  async *batches(): AsyncGenerator<LogRecord> {
    for await (const { record } of this.file.forward(0, this.sizeBytes)) yield record;
  }

  /** Changes with every `wake`: read it before looking, and `changed` misses nothing. */
  get seen(): number {
    return this.version;
  }

  /** Resolves once there has been a `wake` since `seen`. */
  changed(seen: number): Promise<void> {
    if (this.version !== seen) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** The job of this attempt has changed. */
  jobChanged(): void {
    this.jobChanges += 1;
    this.wake();
  }

  /** Something that readers wait for may have happened. */
  wake(): void {
    this.version += 1;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private async appendNow(frame: LogsFrame, at: number): Promise<readonly LogLine[]> {
    const record = toRecord(this.state, frame);
    if (!record) return [];
    this.sizeBytes = await this.file.append(record, this.sizeBytes);
    this.state = record.after;
    this.lastArrivalAt = at;
    const lines = linesOf(record);
    this.remember(lines);
    this.wake();
    return lines;
  }

  private async recover(): Promise<void> {
    this.sizeBytes = await this.file.repair();
    this.isCompressed = await this.file.isCompressed();
    const records = this.isCompressed ? await this.newestForward() : await this.newestBackward();
    this.state = records.at(-1)?.after ?? EMPTY_STATE;
    for (const record of records) this.remember(linesOf(record));
  }

  /** The last records that fill the ring, oldest first. */
  private async newestBackward(): Promise<LogRecord[]> {
    const records: LogRecord[] = [];
    for await (const record of this.file.backward(this.sizeBytes)) {
      records.unshift(record);
      if ((records.at(-1)?.after.next_seq ?? 0) - record.seq >= RING_LINES) break;
    }
    return records;
  }

  private async newestForward(): Promise<LogRecord[]> {
    const records: LogRecord[] = [];
    for await (const { record } of this.file.forward(0, Infinity)) {
      records.push(record);
      while ((records[1]?.seq ?? Infinity) <= record.after.next_seq - RING_LINES) records.shift();
    }
    return records;
  }

  private remember(lines: readonly LogLine[]): void {
    for (const line of lines) {
      this.ring.push(line);
      this.ringBytes += weigh(line);
    }
    let surplus = 0;
    while (
      this.ring.length - surplus > RING_LINES ||
      (this.ringBytes > RING_BYTES && surplus < this.ring.length)
    ) {
      this.ringBytes -= weigh(this.ring[surplus] as LogLine);
      surplus += 1;
    }
    if (surplus > 0) this.ring = this.ring.slice(surplus);
  }

  private async tailBackward(query: LogTailQuery): Promise<LogLine[]> {
    const found: LogLine[][] = [];
    let count = 0;
    for await (const record of this.file.backward(this.sizeBytes)) {
      const lines = linesOf(record).filter(matcher(query));
      found.unshift(lines);
      count += lines.length;
      if (count >= query.tail) break;
    }
    return found.flat().slice(-query.tail);
  }

  private async tailForward(query: LogTailQuery): Promise<LogLine[]> {
    let found: LogLine[] = [];
    for await (const record of this.batches()) {
      found.push(...linesOf(record).filter(matcher(query)));
      if (found.length > 2 * query.tail) found = found.slice(-query.tail);
    }
    return found.slice(-query.tail);
  }

  private async pageOfFile({ seq, byte }: Cursor): Promise<Page> {
    const lines: LogLine[] = [];
    let next: Cursor = { seq, byte };
    for await (const { record, end } of this.file.forward(
      byte,
      this.isCompressed ? Infinity : this.sizeBytes,
    )) {
      for (const line of linesOf(record)) if (line.seq >= seq) lines.push(line);
      next = { seq: Math.max(seq, record.after.next_seq), byte: end };
      if (lines.length >= PAGE_LINES) break;
    }
    // Only a file that somebody has taken away has nothing here: whoever reads on goes on behind it.
    return lines.length > 0 ? { lines, next } : { lines, next: { seq: this.state.next_seq, byte } };
  }
}

function weigh({ text }: LogLine): number {
  return 2 * text.length + 100;
}

function matcher({ stream, search }: LogTailQuery): (line: LogLine) => boolean {
  return (line) =>
    (!stream || line.stream === stream) && (search === undefined || line.text.includes(search));
}
