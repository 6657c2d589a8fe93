import type { AttemptKey, LogPosition, LogStream as StreamName, LogsFrame } from '@svc/contract';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { isMissing } from './durable-file.js';
import { LineSplitter, type Lines } from './line-splitter.js';
import { NO_CUT, type Cut } from './log-cut.js';
import type { Pace } from './pace.js';
import { toReason, type AgentLog } from './log.js';
import type { Clock } from './runner.js';

const MAX_FRAME_LINES = 5000;
const WINDOW_BYTES = 4 * 1024 * 1024;
/** Caught up, a stream is read at most once in this time: a job that prints line by line does not make a frame of each. */
const READ_GAP_MS = 20;

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

/** Where a stream stands on the server. */
export type Mark = Pick<LogPosition, 'offset' | 'lines'>;

/**
 * Ships one file, line by line, from the server's high-water mark on. The file is the only store: whatever the connection
 * loses is read again. What was cut off its beginning is said in place of the lines. Must hold: on one connection frames follow
 * each other without a gap, each awaiting its ack in order.
 */
export class LogStream {
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
  #cut: Cut = NO_CUT;
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
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly key: AttemptKey,
    private readonly stream: StreamName,
    readonly path: string,
    private readonly channel: LogChannel,
  ) {
    this.sent = new Promise((resolve) => (this.#resolveSent = resolve));
    this.shipped = new Promise((resolve) => (this.#resolveShipped = resolve));
  }

  /** Bytes that the server has acknowledged. */
  get ackedTo(): number {
    return this.#ackedTo;
  }

  get cut(): Cut {
    return this.#cut;
  }

  get isFinal(): boolean {
    return this.#final;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The file, once it is there, is this stream's own. */
  begin(cut: Cut): void {
    this.#begun = true;
    this.raiseCut(cut);
  }

  /** What lies before the cut is not read from now on. Must hold: called before the bytes go. */
  raiseCut(cut: Cut): void {
    this.#cut = cut;
    if (this.#sentTo < cut.to) this.#generation += 1;
    this.wake();
  }

  /** A connection stands; the server has everything before that. */
  resume(mark: Mark): void {
    this.#online = true;
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
    const waitMs = this.#lastPumpAt + READ_GAP_MS - this.channel.clock.now();
    return setTimeout(() => void this.#pump(), Math.min(Math.max(waitMs, 0), READ_GAP_MS));
  }

  async #pump(): Promise<void> {
    this.#timer = null;
    this.#pumping = true;
    this.#again = false;
    try {
      while (this.#mayRead()) {
        await this.#waitForPace();
        if (!(await this.channel.inTurn((buffer) => this.#readAndSend(buffer)))) break;
      }
    } catch (error) {
      this.channel.log.warn('cannot read the log', { path: this.path, reason: toReason(error) });
    }
    this.#lastPumpAt = this.channel.clock.now();
    this.#pumping = false;
    if (this.#closed) return this.#release();
    if (this.#again) this.wake();
  }

  #mayRead(): boolean {
    const isOpen = this.#online && this.#begun && !this.#closed;
    const isDue = !this.#rewinding && !this.#endSent;
    return isOpen && isDue && this.#sentTo - this.#ackedTo < WINDOW_BYTES;
  }

  /** Sends what one read gives; false when there was nothing to read. */
  async #readAndSend(buffer: Buffer): Promise<boolean> {
    if (!this.#mayRead()) return false;
    if (this.#sentTo < this.#cut.to) this.#sendCut(this.#cut);
    const generation = this.#generation;
    const isFinal = this.#final;
    const bytesRead = await this.#read(buffer);
    if (generation !== this.#generation) return true;
    if (this.#isReplaying) this.channel.replayPace.spend(bytesRead);
    if (bytesRead > 0) this.#send(this.#splitter.push(buffer.subarray(0, bytesRead)));
    else if (isFinal) this.#sendEnd();
    return bytesRead > 0;
  }

  async #read(buffer: Buffer): Promise<number> {
    const file = await this.#open();
    const result = await file?.read(buffer, 0, buffer.length, this.#splitter.position);
    return result?.bytesRead ?? 0;
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

  get #isReplaying(): boolean {
    return this.#splitter.position < (this.#backlogTo ?? 0);
  }

  /** What is written while the connection stands goes at once. */
  async #waitForPace(): Promise<void> {
    if (this.#backlogTo === null) {
      const file = await this.#open();
      this.#backlogTo = (await file?.stat())?.size ?? 0;
    }
    if (this.#isReplaying) await this.channel.replayPace.ready();
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

  #sendCut({ to, lines, at }: Cut): void {
    this.#sendFrame({ lines: [], to, ts: at, dropped: Math.max(0, lines - this.#sentLines) });
    this.#splitter = new LineSplitter(to);
  }

  #sendFrame(given: Pick<LogsFrame, 'lines' | 'to'> & Partial<LogsFrame>): void {
    const { job_id, attempt } = this.key;
    const frame: LogsFrame = {
      ...{ type: 'logs', job_id, attempt, stream: this.stream, from: this.#sentTo },
      ...{ ts: this.channel.clock.now(), dropped: 0, end: false },
      ...given,
    };
    this.channel.send(frame);
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
    await file?.close();
  }
}
