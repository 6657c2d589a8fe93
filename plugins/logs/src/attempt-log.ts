import type { LogLine, LogsFrame } from '@svc/contract';
import { CoalescedWork } from '@svc/kernel';
import type { LogFile } from './log-file.js';
import { EMPTY_STATE, isComplete, linesOf, toRecord, type LogRecord, type LogState } from './log-record.js';
import { LogRing, RING_LINES } from './log-ring.js';
import {
  headOf,
  NewestLines,
  tailBackward,
  tailForward,
  type FoundLines,
  type LogTailQuery,
} from './log-tail.js';

/** The largest number of lines of one `page`. */
const PAGE_LINES = 500;

/**
 * Where a reader continues: the seq of the next line, and a byte offset at or before that line. The offset is valid while `rollbacks` equals
 * that of the log: after a rollback other records may be there.
 */
export interface Cursor {
  readonly seq: number;
  readonly byte: number;
  readonly rollbacks: number;
}

/** The position before the line with that seq, for a reader that has read nothing of the file yet. */
export function cursorBefore(seq: number): Cursor {
  return { seq, byte: 0, rollbacks: 0 };
}

export interface Page {
  readonly lines: readonly LogLine[];
  readonly next: Cursor;
}

/**
 * The log of one attempt. What is held in memory can be read again from the file. Writes run one at a time, in the order of the calls.
 */
export class AttemptLog {
  state: LogState = EMPTY_STATE;
  /** When the last frame arrived, in ms; 0: none has since the log was loaded. */
  lastArrivalAt = 0;
  jobChanges = 0;
  readonly #ring = new LogRing();
  #sizeBytes = 0;
  #isCompressed = false;
  #version = 0;
  readonly #waiting: (() => void)[] = [];
  #writing: Promise<unknown> = Promise.resolve();
  /** What is synced to disk. What was written after it is rolled back when the sync fails. */
  #durable = { state: EMPTY_STATE, sizeBytes: 0 };
  #isSynced = true;
  #rollbacks = 0;
  /** The file still has records after the end of the log, which were rolled back. */
  #needsTruncation = false;
  readonly #syncs = new CoalescedWork(() => this.#sync());

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

  /** The state that is synced to disk: its agent may delete what it covers. */
  get durableState(): LogState {
    return this.#durable.state;
  }

  get memoryBytes(): number {
    return this.#ring.sizeBytes;
  }

  /** Stores the frame if it is the next of its stream; returns the new lines. If it rejects, the log is unchanged. */
  append(frame: LogsFrame, at: number): Promise<readonly LogLine[]> {
    const work = this.#writing.then(() => this.#appendNow(frame, at));
    this.#writing = work.catch(() => undefined);
    return work;
  }

  /**
   * Resolves once everything that was appended before the call is synced to disk. All calls during a running sync share the next one.
   * Rejects when that sync or the one before it fails: then the log is rolled back to the durable state, and the agent sends the rest again.
   */
  async synced(): Promise<void> {
    const rollbacks = this.#rollbacks;
    await this.#syncs.next();
    if (rollbacks !== this.#rollbacks) throw new Error('what was written could not be synced');
  }

  /**
   * Compresses the file if the log is complete and synced: nothing is written or rolled back from then on, so no append has to wait. One
   * call at a time. Rejects when the sync fails or `signal` aborts first; then the log is unchanged.
   */
  async compress(signal?: AbortSignal): Promise<void> {
    if (!this.isComplete || this.#isCompressed) return;
    await this.synced();
    const { state, sizeBytes } = this.#durable;
    if (!isComplete(state) || sizeBytes === 0) return;
    await this.file.compress(sizeBytes, signal);
    this.#isCompressed = true;
    await this.file.removePlain();
  }

  /** Resolves when no write and no sync is running. */
  async settled(): Promise<void> {
    await this.#syncs.settled();
    await this.#writing;
  }

  /** The newest lines that match, or those from `query.from` on. */
  async tail(query: LogTailQuery): Promise<FoundLines> {
    if (query.from !== undefined) return headOf(this.linesFrom(query.from), query);
    const inRing = new NewestLines(query).addOlder(this.#ring.lines);
    const ringHasAll = (this.#ring.lines[0]?.seq ?? this.state.next_seq) === 0;
    if (ringHasAll || inRing.isFull) return inRing.found;
    if (this.#isCompressed) return tailForward(this.batches(), query);
    return tailBackward(this.file.backward(this.#sizeBytes), query);
  }

  /** The next lines from the cursor on; none when the reader has reached the end. */
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

  /** All records to the present end of the log, from the one with the line `seq` on. */
  async *batches(seq = 0): AsyncGenerator<LogRecord> {
    for await (const { record } of this.file.forward(0, this.#sizeBytes, seq)) yield record;
  }

  /** The lines from that seq on, to the present end of the log. */
  async *linesFrom(seq: number): AsyncGenerator<readonly LogLine[]> {
    const first = this.#ring.lines[0]?.seq ?? this.state.next_seq;
    if (seq >= first) return yield this.#ring.lines.slice(seq - first);
    for await (const record of this.batches(seq)) yield linesOf(record).filter((line) => line.seq >= seq);
  }

  /** Changes with every `wake`. A reader takes it before it reads the log, so that `changed` misses nothing. */
  get seen(): number {
    return this.#version;
  }

  /** Resolves once there has been a `wake` since `seen`. */
  changed(seen: number): Promise<void> {
    if (this.#version !== seen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  jobChanged(): void {
    this.jobChanges += 1;
    this.wake();
  }

  /** Resolves all pending `changed` calls. */
  wake(): void {
    this.#version += 1;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #appendNow(frame: LogsFrame, at: number): Promise<readonly LogLine[]> {
    const record = toRecord(this.state, frame);
    if (!record) return [];
    await this.#truncateIfNeeded();
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
      this.#durable = { state, sizeBytes };
    } catch (error) {
      this.#writing = this.#writing.then(() => this.#rollBack());
      await this.#writing;
      throw error;
    }
  }

  async #rollBack(): Promise<void> {
    this.#rollbacks += 1;
    this.#isSynced = false;
    ({ state: this.state, sizeBytes: this.#sizeBytes } = this.#durable);
    this.#ring.truncate(this.state.next_seq);
    this.#needsTruncation = true;
    await this.#truncateIfNeeded().catch(() => undefined);
  }

  /** Must run before the next write: after a shorter record, old records would follow that look intact after a restart. */
  async #truncateIfNeeded(): Promise<void> {
    if (!this.#needsTruncation) return;
    await this.file.truncate(this.#sizeBytes);
    this.#needsTruncation = false;
  }

  async #recover(): Promise<void> {
    this.#sizeBytes = await this.file.repair();
    this.#isCompressed = await this.file.isCompressed();
    const records = this.#isCompressed ? await this.#newestForward() : await this.#newestBackward();
    this.state = records.at(-1)?.after ?? EMPTY_STATE;
    this.#durable = { state: this.state, sizeBytes: this.#sizeBytes };
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
    const rollbacks = this.#rollbacks;
    const { seq } = cursor;
    const byte = cursor.rollbacks === rollbacks ? cursor.byte : 0;
    const lines: LogLine[] = [];
    let next: Cursor = { seq, byte, rollbacks };
    for await (const { record, end } of this.file.forward(
      byte,
      this.#isCompressed ? Infinity : this.#sizeBytes,
      seq,
    )) {
      for (const line of linesOf(record)) if (line.seq >= seq) lines.push(line);
      next = { seq: Math.max(seq, record.after.next_seq), byte: end, rollbacks };
      if (lines.length >= PAGE_LINES) break;
    }
    // A rollback changed the file during the read, which may have seen part of a record.
    if (rollbacks !== this.#rollbacks) return this.page(cursor);
    // There are no lines here only if the file was deleted: the reader skips to the end.
    return lines.length > 0 ? { lines, next } : { lines, next: { ...next, seq: this.state.next_seq, byte } };
  }
}
