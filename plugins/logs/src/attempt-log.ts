import type { LogLine, LogsFrame } from '@svc/contract';
import { InTurn } from '@svc/kernel';
import type { LogFile } from './log-file.js';
import { EMPTY_STATE, isComplete, linesOf, toRecord, type LogRecord, type LogState } from './log-record.js';
import { LogRing, RING_LINES } from './log-ring.js';
import { NewestLines, tailBackward, tailForward, type FoundLines, type LogTailQuery } from './log-tail.js';

/** Lines handed out at once to who reads on. */
const PAGE_LINES = 500;

/**
 * Where a reader goes on: the next line it wants, and a byte of the file that is not behind that. The byte holds while `takenBack` is
 * that of the log: once something was taken back, other records may stand there.
 */
export interface Cursor {
  readonly seq: number;
  readonly byte: number;
  readonly takenBack: number;
}

/** Before the line of that seq, for a reader that has read nothing of the file. */
export function cursorBefore(seq: number): Cursor {
  return { seq, byte: 0, takenBack: 0 };
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
  readonly #ring = new LogRing();
  #sizeBytes = 0;
  #isCompressed = false;
  #version = 0;
  readonly #waiting: (() => void)[] = [];
  #writing: Promise<unknown> = Promise.resolve();
  /** How far the log is known to outlive a loss of power; what is written behind it is taken back when it cannot be synced. */
  #kept = { state: EMPTY_STATE, sizeBytes: 0 };
  #isSynced = true;
  #takenBack = 0;
  /** Behind the log there are still records in the file that were taken back. */
  #isCutOwed = false;
  readonly #syncs = new InTurn(() => this.#sync());

  private constructor(
    readonly jobId: string,
    readonly attempt: number,
    private readonly file: LogFile,
  ) {}

  static async load(jobId: string, attempt: number, file: LogFile): Promise<AttemptLog> {
    const log = new AttemptLog(jobId, attempt, file);
    await log.#recover();
    return log;
  }

  get isComplete(): boolean {
    return isComplete(this.state);
  }

  /** Where the log stands for certain: what its agent may give away. */
  get keptState(): LogState {
    return this.#kept.state;
  }

  get memoryBytes(): number {
    return this.#ring.sizeBytes;
  }

  /** Stores the frame if it is the next of its stream; returns the lines that are new. A rejection leaves the log as it was. */
  append(frame: LogsFrame, at: number): Promise<readonly LogLine[]> {
    const work = this.#writing.then(() => this.#appendNow(frame, at));
    this.#writing = work.catch(() => undefined);
    return work;
  }

  /**
   * Resolves once everything that was appended before the call outlives a loss of power. Who asks while the disk is busy with it is
   * served together with all others by the next round. Rejects when the disk fails, or has failed for a round before: then the log is back
   * at what is kept, and its agent sends the rest again.
   */
  async synced(): Promise<void> {
    const takenBack = this.#takenBack;
    await this.#syncs.next();
    if (takenBack !== this.#takenBack) throw new Error('what was written could not be synced');
  }

  /**
   * Compresses the file if the log is complete and synced: from then on nothing is written to it or taken back, so no append waits for
   * it. One call at a time. Rejects when it cannot be synced or `signal` aborts first, and leaves the log as it was.
   */
  async compress(signal?: AbortSignal): Promise<void> {
    if (!this.isComplete || this.#isCompressed) return;
    await this.synced();
    const { state, sizeBytes } = this.#kept;
    if (!isComplete(state) || sizeBytes === 0) return;
    await this.file.compress(sizeBytes, signal);
    this.#isCompressed = true;
    await this.file.removePlain();
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#syncs.settled();
    await this.#writing;
  }

  /** The newest lines that match. */
  async tail(query: LogTailQuery): Promise<FoundLines> {
    const inRing = new NewestLines(query).addOlder(this.#ring.lines);
    const ringHasAll = (this.#ring.lines[0]?.seq ?? this.state.next_seq) === 0;
    if (ringHasAll || inRing.isFull) return inRing.found;
    if (this.#isCompressed) return tailForward(this.batches(), query);
    return tailBackward(this.file.backward(this.#sizeBytes), query);
  }

  /** Lines from the cursor on; none when there is no more yet. */
  async page(cursor: Cursor): Promise<Page> {
    const first = this.#ring.lines[0];
    if (cursor.seq >= this.state.next_seq) return { lines: [], next: cursor };
    if (first && cursor.seq >= first.seq) {
      const start = cursor.seq - first.seq;
      const lines = this.#ring.lines.slice(start, start + PAGE_LINES);
      return { lines, next: { ...cursor, seq: cursor.seq + lines.length } };
    }
    return this.#pageOfFile(cursor);
  }

  /** Every line from the start, in batches, as far as the log goes now. */
  async *batches(): AsyncGenerator<LogRecord> {
    for await (const { record } of this.file.forward(0, this.#sizeBytes)) yield record;
  }

  /** Changes with every `wake`: read it before looking, and `changed` misses nothing. */
  get seen(): number {
    return this.#version;
  }

  /** Resolves once there has been a `wake` since `seen`. */
  changed(seen: number): Promise<void> {
    if (this.#version !== seen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The job of this attempt has changed. */
  jobChanged(): void {
    this.jobChanges += 1;
    this.wake();
  }

  /** Something that readers wait for may have happened. */
  wake(): void {
    this.#version += 1;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #appendNow(frame: LogsFrame, at: number): Promise<readonly LogLine[]> {
    const record = toRecord(this.state, frame);
    if (!record) return [];
    await this.#cutIfOwed();
    this.#sizeBytes = await this.file.append(record, this.#sizeBytes);
    this.#isSynced = false;
    this.state = record.after;
    this.lastArrivalAt = at;
    const lines = linesOf(record);
    this.#ring.add(lines);
    this.wake();
    return lines;
  }

  async #sync(): Promise<void> {
    if (this.#isSynced) return;
    const { state } = this;
    const sizeBytes = this.#sizeBytes;
    this.#isSynced = true;
    try {
      await this.file.sync();
      this.#kept = { state, sizeBytes };
    } catch (error) {
      this.#writing = this.#writing.then(() => this.#takeBack());
      await this.#writing;
      throw error;
    }
  }

  async #takeBack(): Promise<void> {
    this.#takenBack += 1;
    this.#isSynced = false;
    ({ state: this.state, sizeBytes: this.#sizeBytes } = this.#kept);
    this.#ring.cutTo(this.state.next_seq);
    this.#isCutOwed = true;
    await this.#cutIfOwed().catch(() => undefined);
  }

  /** Must come before the next record is written: behind a shorter one, old records would stand that look sound after a restart. */
  async #cutIfOwed(): Promise<void> {
    if (!this.#isCutOwed) return;
    await this.file.cutTo(this.#sizeBytes);
    this.#isCutOwed = false;
  }

  async #recover(): Promise<void> {
    this.#sizeBytes = await this.file.repair();
    this.#isCompressed = await this.file.isCompressed();
    const records = this.#isCompressed ? await this.#newestForward() : await this.#newestBackward();
    this.state = records.at(-1)?.after ?? EMPTY_STATE;
    this.#kept = { state: this.state, sizeBytes: this.#sizeBytes };
    this.#isSynced = this.#isCompressed || this.#sizeBytes === 0;
    for (const record of records) this.#ring.add(linesOf(record));
  }

  /** The last records that fill the ring, oldest first. */
  async #newestBackward(): Promise<LogRecord[]> {
    const records: LogRecord[] = [];
    for await (const record of this.file.backward(this.#sizeBytes)) {
      records.unshift(record);
      if ((records.at(-1)?.after.next_seq ?? 0) - record.seq >= RING_LINES) break;
    }
    return records;
  }

  async #newestForward(): Promise<LogRecord[]> {
    const records: LogRecord[] = [];
    for await (const { record } of this.file.forward(0, Infinity)) {
      records.push(record);
      while ((records[1]?.seq ?? Infinity) <= record.after.next_seq - RING_LINES) records.shift();
    }
    return records;
  }

  async #pageOfFile(cursor: Cursor): Promise<Page> {
    const takenBack = this.#takenBack;
    const { seq } = cursor;
    const byte = cursor.takenBack === takenBack ? cursor.byte : 0;
    const lines: LogLine[] = [];
    let next: Cursor = { seq, byte, takenBack };
    for await (const { record, end } of this.file.forward(
      byte,
      this.#isCompressed ? Infinity : this.#sizeBytes,
    )) {
      for (const line of linesOf(record)) if (line.seq >= seq) lines.push(line);
      next = { seq: Math.max(seq, record.after.next_seq), byte: end, takenBack };
      if (lines.length >= PAGE_LINES) break;
    }
    // The file changed under the reader, which may have met half a record.
    if (takenBack !== this.#takenBack) return this.page(cursor);
    // Only a file that somebody has taken away has nothing here: whoever reads on goes on behind it.
    return lines.length > 0 ? { lines, next } : { lines, next: { ...next, seq: this.state.next_seq, byte } };
  }
}
