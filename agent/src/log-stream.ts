import type { AttemptKey, LogStream as StreamName, LogsFrame } from '@svc/contract';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { isMissing } from './durable-file.js';
import { LineSplitter, type Lines } from './line-splitter.js';
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
  readonly clock: Clock;
  readonly log: AgentLog;
}

/**
 * Ships one file, line by line, from the server's high-water mark on. The file is the only store: whatever the connection
 * loses is read again. Must hold: on one connection frames follow each other without a gap, each awaiting its ack in order.
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
  #ackedTo = 0;
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
    private readonly path: string,
    private readonly channel: LogChannel,
  ) {
    this.sent = new Promise((resolve) => (this.#resolveSent = resolve));
    this.shipped = new Promise((resolve) => (this.#resolveShipped = resolve));
  }

  /** Bytes that the server has acknowledged. */
  get ackedTo(): number {
    return this.#ackedTo;
  }

  /** A connection stands; the server has everything before `offset`. */
  resume(offset: number): void {
    this.#online = true;
    this.#rewindTo(offset);
  }

  pause(): void {
    this.#online = false;
    this.#generation += 1;
    this.#inFlight.length = 0;
  }

  /** The server's answer to the oldest frame in flight: its high-water mark. */
  ack(offset: number): void {
    const expected = this.#inFlight.shift();
    this.#ackedTo = offset;
    if (offset !== (expected ?? this.#sentTo)) this.#rewinding = true;
    if (this.#rewinding && this.#inFlight.length === 0) return this.#rewindTo(offset);
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
      while (this.#mayRead() && (await this.channel.inTurn((buffer) => this.#readAndSend(buffer))));
    } catch (error) {
      this.channel.log.warn('cannot read the log', { path: this.path, reason: toReason(error) });
    }
    this.#lastPumpAt = this.channel.clock.now();
    this.#pumping = false;
    if (this.#closed) return this.#release();
    if (this.#again) this.wake();
  }

  #mayRead(): boolean {
    const isOpen = this.#online && !this.#closed && !this.#rewinding && !this.#endSent;
    return isOpen && this.#sentTo - this.#ackedTo < WINDOW_BYTES;
  }

  /** Sends what one read gives; false when there was nothing to read. */
  async #readAndSend(buffer: Buffer): Promise<boolean> {
    if (!this.#mayRead()) return false;
    const generation = this.#generation;
    const isFinal = this.#final;
    const bytesRead = await this.#read(buffer);
    if (generation !== this.#generation) return true;
    if (bytesRead > 0) this.#send(this.#splitter.push(buffer.subarray(0, bytesRead)));
    else if (isFinal) this.#sendEnd();
    return bytesRead > 0;
  }

  /** A stream's file is not there before its process is. */
  async #read(buffer: Buffer): Promise<number> {
    try {
      this.#file ??= await open(this.path, 'r');
    } catch (error) {
      if (isMissing(error)) return 0;
      throw error;
    }
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#splitter.position);
    return bytesRead;
  }

  #send({ texts, ends }: Lines): void {
    for (let first = 0; first < texts.length; first += MAX_FRAME_LINES) {
      const behind = Math.min(first + MAX_FRAME_LINES, texts.length);
      this.#sendFrame(texts.slice(first, behind), ends[behind - 1] as number, false);
    }
  }

  #sendEnd(): void {
    this.#sendFrame(this.#splitter.flush().texts, this.#splitter.position, true);
    this.#endSent = true;
    this.#resolveSent();
  }

  #sendFrame(lines: string[], to: number, end: boolean): void {
    const { job_id, attempt } = this.key;
    const ts = this.channel.clock.now();
    const from = this.#sentTo;
    this.channel.send({
      type: 'logs',
      job_id,
      attempt,
      stream: this.stream,
      from,
      to,
      ts,
      lines,
      dropped: 0,
      end,
    });
    this.#inFlight.push(to);
    this.#sentTo = to;
  }

  #rewindTo(offset: number): void {
    this.#generation += 1;
    this.#inFlight.length = 0;
    this.#rewinding = false;
    this.#endSent = false;
    this.#splitter = new LineSplitter(offset);
    this.#sentTo = offset;
    this.#ackedTo = offset;
    this.wake();
  }

  async #release(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}
