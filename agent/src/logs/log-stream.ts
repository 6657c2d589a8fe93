import type { AttemptKey, LogPosition, LogStream as StreamName, LogsFrame } from '@svc/contract';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { toBackoffMs } from '../core/backoff.js';
import { isMissing } from '../core/durable-file.js';
import { toReason, type AgentLog } from '../core/log.js';
import type { Pace } from '../core/pace.js';
import type { Clock } from '../core/runner.js';
import { LineSplitter, type Lines } from './line-splitter.js';
import { WHOLE_LOG, type LogHead, type DurableWriter, type Place } from './log-head.js';

const MAX_FRAME_LINES = 5000;
const WINDOW_BYTES = 4 * 1024 * 1024;
/** Caught up, a stream is read at most once in this time: a job that prints line by line does not make a frame of each. */
const READ_GAP_MS = 20;
/** So much of a file's beginning tells it from what a job has written since it emptied it. */
const HEAD_BYTES = 256;
const NO_HEAD: Buffer = Buffer.alloc(0);

/** What all streams of an agent share, so that its memory does not grow with their number. */
export interface LogChannel {
  send(frame: LogsFrame): void;
  /** Runs the tasks one at a time, each with the one read buffer, once the socket has room. */
  inTurn(task: (buffer: Buffer) => Promise<boolean>): Promise<boolean>;
  /** Of what was there before the connection. */
  readonly replayPace: Pace;
  readonly clock: Clock;
  readonly log: AgentLog;
}

/** Moves the cut of a stream, durably. */
export type ChangeCut = (toCut: (before: LogHead) => LogHead, disk?: DurableWriter) => Promise<unknown>;

/** Where a stream stands on the server. */
export type Mark = Pick<LogPosition, 'offset' | 'lines'>;

/**
 * Ships one file, line by line, from the server's high-water mark on. The file is the only store: whatever the connection
 * loses is read again. What was cut off its beginning is said in place of the lines. A job that opens `/dev/stdout` anew empties
 * its file: then the log goes on with the file's first byte, behind a line that says so. Must hold: on one connection frames
 * follow each other without a gap, each awaiting its ack in order.
 */
export class LogStream {
  readonly #key: AttemptKey;
  readonly #stream: StreamName;
  readonly #channel: LogChannel;
  readonly #changeCut: ChangeCut;

  /** Resolves when everything up to the end was sent once. */
  readonly sent: Promise<void>;
  /** Resolves when the server has acknowledged the end. */
  readonly shipped: Promise<void>;
  #resolveSent = () => {};
  #resolveShipped = () => {};
  #file: FileHandle | null = null;
  #splitter = new LineSplitter();
  /** Everything before it was sent on this connection, or is on the server. */
  #sentTo = 0;
  /** Lines before that, given up ones too. */
  #sentLines = 0;
  #ackedTo = 0;
  #cut: LogHead = WHOLE_LOG;
  /** The first bytes of the file, as far as they have been read; empty when they are not known. */
  #head: Buffer = NO_HEAD;
  /** The server's mark was told in this agent's life. */
  #isMarked = false;
  /** The last read found that the file had been emptied. */
  #isEmptied = false;
  #startsAnew = false;
  #begun = false;
  /** What lies before it is replayed; null: not known yet on this connection. */
  #backlogTo: number | null = null;
  /** The `to` of each frame that is not acknowledged yet. */
  readonly #inFlight: number[] = [];
  #rewinding = false;
  #online = false;
  #final = false;
  #endSent = false;
  #closed = false;
  /** Raised by whatever makes a read in progress worthless. */
  #generation = 0;
  #pumping = false;
  #again = false;
  #lastPumpAt = 0;
  /** Reads that failed one after the other. */
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    key: AttemptKey,
    stream: StreamName,
    readonly path: string,
    channel: LogChannel,
    changeCut: ChangeCut,
  ) {
    this.#key = key;
    this.#stream = stream;
    this.#channel = channel;
    this.#changeCut = changeCut;
    this.sent = new Promise((resolve) => (this.#resolveSent = resolve));
    this.shipped = new Promise((resolve) => (this.#resolveShipped = resolve));
  }

  /** Bytes that the server has acknowledged. */
  get ackedTo(): number {
    return this.#ackedTo;
  }

  get cut(): LogHead {
    return this.#cut;
  }

  get isFinal(): boolean {
    return this.#final;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The file, once it is there, is this stream's own. */
  begin(cut: LogHead): void {
    this.#begun = true;
    this.raiseCut(cut);
  }

  /** What lies before the cut is not read from now on. Must hold: called before the bytes go. */
  raiseCut(cut: LogHead): void {
    if (cut.start !== this.#cut.start) this.#head = NO_HEAD;
    this.#cut = cut;
    if (this.#sentTo < cut.to) this.#generation += 1;
    this.wake();
  }

  /** The file has been emptied: the log goes on with its first byte. Without the server's mark nobody knows behind what. */
  async startAnew(disk?: DurableWriter): Promise<void> {
    if (!this.#isMarked) return;
    const { start } = this.#cut;
    this.#generation += 1;
    this.#startsAnew = true;
    try {
      await this.#changeCut((before) => (before.start === start ? this.#toNewStart(before) : before), disk);
    } finally {
      this.#startsAnew = false;
      this.wake();
    }
  }

  /** A connection stands; the server has everything before that. */
  resume(mark: Mark): void {
    this.#online = true;
    this.#isMarked = true;
    this.#rewindTo(mark);
  }

  pause(): void {
    this.#online = false;
    this.#generation += 1;
    this.#inFlight.length = 0;
  }

  /** The server's answer to the oldest frame in flight: its high-water mark. */
  ack(mark: Mark): void {
    const { offset } = mark;
    const expected = this.#inFlight.shift();
    this.#ackedTo = offset;
    if (offset !== (expected ?? this.#sentTo)) this.#rewinding = true;
    if (this.#rewinding && this.#inFlight.length === 0) return this.#rewindTo(mark);
    if (this.#endSent && this.#inFlight.length === 0) return this.#resolveShipped();
    this.wake();
  }

  /** Nobody writes to the file any more. */
  finalize(): void {
    this.#final = true;
    this.#lastPumpAt = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.wake();
  }

  /** The file may have grown. */
  wake(): void {
    if (this.#pumping) this.#again = true;
    else if (this.#online && !this.#closed) this.#timer ??= this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.pause();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (!this.#pumping) void this.#release();
  }

  #schedule(): NodeJS.Timeout {
    const waitMs = this.#lastPumpAt + READ_GAP_MS - this.#channel.clock.now();
    return setTimeout(() => void this.#pump(), Math.min(Math.max(waitMs, 0), READ_GAP_MS));
  }

  async #pump(): Promise<void> {
    this.#timer = null;
    this.#pumping = true;
    this.#again = false;
    try {
      while (this.#mayRead()) {
        await this.#waitForPace();
        const hasMore = await this.#channel.inTurn((buffer) => this.#readAndSend(buffer));
        if (this.#isEmptied) await this.startAnew();
        else if (!hasMore) break;
      }
      this.#failures = 0;
    } catch (error) {
      this.#channel.log.warn('cannot read the log', { path: this.path, reason: toReason(error) });
      this.#failures += 1;
      await this.#release();
    }
    this.#lastPumpAt = this.#channel.clock.now();
    this.#pumping = false;
    if (this.#closed) return this.#release();
    if (this.#failures > 0) this.#timer = this.#scheduleRetry();
    else if (this.#again) this.wake();
  }

  /** Whoever wakes the stream meanwhile waits for it too. */
  #scheduleRetry(): NodeJS.Timeout {
    return setTimeout(() => void this.#pump(), toBackoffMs(this.#failures, Math.random())).unref();
  }

  #mayRead(): boolean {
    const isOpen = this.#online && this.#begun && !this.#closed;
    const isDue = !this.#rewinding && !this.#endSent && !this.#startsAnew;
    return isOpen && isDue && this.#sentTo - this.#ackedTo < WINDOW_BYTES;
  }

  /** Sends what one read gives; false when there was nothing to read. */
  async #readAndSend(buffer: Buffer): Promise<boolean> {
    this.#isEmptied = false;
    if (!this.#mayRead()) return false;
    if (this.#sentTo < this.#cut.to) this.#sendCut(this.#cut);
    const generation = this.#generation;
    const isFinal = this.#final;
    const bytesRead = await this.#read(buffer);
    const isSameFile = await this.#isSameFile();
    if (generation !== this.#generation) return true;
    this.#isEmptied = !isSameFile;
    if (this.#isEmptied) return false;
    // The reader's buffer is used again.
    if (this.#filePosition === 0)
      this.#head = Buffer.from(buffer.subarray(0, Math.min(bytesRead, HEAD_BYTES)));
    if (this.#isReplaying) this.#channel.replayPace.spend(bytesRead);
    if (bytesRead > 0) this.#send(this.#splitter.push(buffer.subarray(0, bytesRead)));
    else if (isFinal) this.#sendEnd();
    return bytesRead > 0;
  }

  async #read(buffer: Buffer): Promise<number> {
    const file = await this.#open();
    const result = await file?.read(buffer, 0, buffer.length, this.#filePosition);
    return result?.bytesRead ?? 0;
  }

  /** Whether the file has all that was read of it, and begins as it did. A hole in its beginning hides how it began. */
  async #isSameFile(): Promise<boolean> {
    const file = await this.#open();
    const { start } = this.#cut;
    const readBytes = this.#filePosition;
    if (file === null || readBytes <= 0) return true;
    const head = Buffer.alloc(Math.min(HEAD_BYTES, readBytes));
    const { size } = await file.stat();
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    if (this.#cut.start !== start) return true;
    if (size < readBytes || bytesRead < head.length) return false;
    return this.#cut.to > start.to || this.#hasHead(head);
  }

  #hasHead(head: Buffer): boolean {
    const knownBytes = Math.min(this.#head.length, head.length);
    if (!head.subarray(0, knownBytes).equals(this.#head.subarray(0, knownBytes))) return false;
    if (head.length > knownBytes) this.#head = head;
    return true;
  }

  /** A stream's file is not there before its process is. */
  async #open(): Promise<FileHandle | null> {
    try {
      return (this.#file ??= await open(this.path, 'r'));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  get #filePosition(): number {
    return this.#splitter.position - this.#cut.start.to;
  }

  get #isReplaying(): boolean {
    return this.#splitter.position < (this.#backlogTo ?? 0);
  }

  /** What is written while the connection stands goes at once. */
  async #waitForPace(): Promise<void> {
    if (this.#backlogTo === null) {
      const file = await this.#open();
      this.#backlogTo = this.#cut.start.to + ((await file?.stat())?.size ?? 0);
    }
    if (this.#isReplaying) await this.#channel.replayPace.ready();
  }

  #send({ texts, ends }: Lines): void {
    for (let first = 0; first < texts.length; first += MAX_FRAME_LINES) {
      const behind = Math.min(first + MAX_FRAME_LINES, texts.length);
      this.#sendFrame({ lines: texts.slice(first, behind), to: ends[behind - 1] as number });
    }
  }

  #sendEnd(): void {
    this.#sendFrame({ lines: this.#splitter.flush().texts, to: this.#splitter.position, end: true });
    this.#endSent = true;
    this.#resolveSent();
  }

  #sendCut(cut: LogHead): void {
    if (this.#sentTo < cut.start.to) this.#sendGap(cut.start, [toEmptiedNotice(this.#stream)]);
    if (this.#sentTo < cut.to) this.#sendGap(cut, []);
    this.#splitter = new LineSplitter(cut.to);
  }

  #sendGap({ to, lines, at }: Place, said: string[]): void {
    this.#sendFrame({
      ...{ lines: said, to, ts: at },
      dropped: Math.max(0, lines - said.length - this.#sentLines),
    });
  }

  /** Behind everything that was sent, cut off or read; the line that says it has a byte of its own. */
  #toNewStart(before: LogHead): LogHead {
    if (this.#online && !this.#rewinding && this.#sentTo >= before.to) this.#sendPartialLine();
    const start: Place = {
      to: Math.max(this.#sentTo, before.to) + 1,
      lines: Math.max(this.#sentLines, before.lines) + 1,
      at: this.#channel.clock.now(),
    };
    return { ...start, start };
  }

  #sendPartialLine(): void {
    const { texts } = this.#splitter.flush();
    if (texts.length > 0) this.#sendFrame({ lines: texts, to: this.#splitter.position });
  }

  #sendFrame(given: Pick<LogsFrame, 'lines' | 'to'> & Partial<LogsFrame>): void {
    const { job_id, attempt } = this.#key;
    const frame: LogsFrame = {
      ...{ type: 'logs', job_id, attempt, stream: this.#stream, from: this.#sentTo },
      ...{ ts: this.#channel.clock.now(), dropped: 0, end: false },
      ...given,
    };
    this.#channel.send(frame);
    this.#inFlight.push(frame.to);
    this.#sentTo = frame.to;
    this.#sentLines += frame.lines.length + frame.dropped;
  }

  #rewindTo({ offset, lines }: Mark): void {
    this.#generation += 1;
    this.#inFlight.length = 0;
    this.#rewinding = false;
    this.#endSent = false;
    this.#splitter = new LineSplitter(offset);
    this.#sentTo = offset;
    this.#sentLines = lines;
    this.#ackedTo = offset;
    this.#backlogTo = null;
    this.wake();
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => {});
  }
}

function toEmptiedNotice(stream: StreamName): string {
  return (
    `[svc] the job emptied its own log here: it opened /dev/${stream} anew, or truncated it. What was not read by then is lost. ` +
    `To lose nothing, append (>> /dev/${stream}) or write to descriptor ${stream === 'stdout' ? 1 : 2}.`
  );
}
