import type { AttemptKey, LogPosition, LogStream as StreamName, LogsFrame } from '@svc/contract';
import type { Lines } from './line-splitter.js';
import type { LogChannel } from './log-channel.js';
import type { Place } from './log-head.js';
import { PartialLine } from './partial-line.js';

const MAX_FRAME_LINES = 5000;
/** So much may be sent without an answer. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** How far the server has a log. */
export type ServerPosition = Pick<LogPosition, 'offset' | 'lines'>;

/** `unknown`: no server has told its position in this agent's life. `rewinding`: it will, once every frame is answered. */
type SenderState = 'unknown' | 'offline' | 'sending' | 'rewinding' | 'endSent';

/**
 * Sends one log in frames, and keeps how far the server has it. Must hold: on one connection frames follow each other without
 * a gap, each awaiting its ack in order.
 */
export class LogSender {
  readonly #key: AttemptKey;
  readonly #stream: StreamName;
  readonly #channel: Pick<LogChannel, 'send' | 'clock'>;
  readonly #partial: PartialLine;

  /** Resolves when everything up to the end was sent once. */
  readonly sent: Promise<void>;
  /** Resolves when the server has acknowledged the end. */
  readonly shipped: Promise<void>;
  #resolveSent = () => {};
  #resolveShipped = () => {};
  #state: SenderState = 'unknown';
  #position: ServerPosition = { offset: 0, lines: 0 };
  #ackedTo = 0;
  /** The `to` of each frame that is not acknowledged yet. */
  readonly #inFlight: number[] = [];

  /** `look` has the log read again. */
  constructor(
    key: AttemptKey,
    stream: StreamName,
    channel: Pick<LogChannel, 'send' | 'clock'>,
    look: () => void,
  ) {
    this.#key = key;
    this.#stream = stream;
    this.#channel = channel;
    this.#partial = new PartialLine((text) => this.#sendPartial(text), look);
    this.sent = new Promise((resolve) => (this.#resolveSent = resolve));
    this.shipped = new Promise((resolve) => (this.#resolveShipped = resolve));
  }

  /** Everything before it, lines that were given up too, was sent on this connection, or is on the server. */
  get position(): ServerPosition {
    return this.#position;
  }

  /** Bytes that the server has acknowledged. */
  get ackedTo(): number {
    return this.#ackedTo;
  }

  get isOnline(): boolean {
    return this.#state !== 'unknown' && this.#state !== 'offline';
  }

  get isPositionKnown(): boolean {
    return this.#state !== 'unknown';
  }

  get isSending(): boolean {
    return this.#state === 'sending';
  }

  get hasRoom(): boolean {
    return this.isSending && this.#position.offset - this.#ackedTo < WINDOW_BYTES;
  }

  /** What follows is sent from there on. */
  resume(position: ServerPosition): void {
    this.#state = 'sending';
    this.#partial.forget();
    this.#inFlight.length = 0;
    this.#position = position;
    this.#ackedTo = position.offset;
  }

  pause(): void {
    if (this.isOnline) this.#state = 'offline';
    this.#partial.forget();
    this.#inFlight.length = 0;
  }

  /** The server's answer to the oldest frame in flight. True: it has not taken what was sent, and is to be resumed from there. */
  ack({ offset }: ServerPosition): boolean {
    if (!this.isOnline) return false;
    const expected = this.#inFlight.shift() ?? this.#position.offset;
    this.#ackedTo = offset;
    if (offset !== expected) this.#state = 'rewinding';
    if (this.#inFlight.length > 0) return false;
    if (this.#state === 'endSent') this.#resolveShipped();
    return this.#state === 'rewinding';
  }

  /** `ts`: when they were seen. */
  sendLines({ texts, ends }: Lines, ts: number): void {
    for (let first = 0; first < texts.length; first += MAX_FRAME_LINES) {
      const behind = Math.min(first + MAX_FRAME_LINES, texts.length);
      this.#send({ lines: texts.slice(first, behind), to: ends[behind - 1] as number, ts });
    }
  }

  /** The line that has no end yet, behind everything that was sent; empty: there is none. */
  showPartial(text: string): void {
    if (this.isSending) this.#partial.show(text);
  }

  /** In place of lines that are gone. */
  sendGap({ to, lines, at }: Place, said: string[]): void {
    const dropped = Math.max(0, lines - said.length - this.#position.lines);
    this.#send({ lines: said, to, ts: at, dropped });
  }

  sendEnd(lines: string[], to: number, ts: number): void {
    this.#send({ lines, to, ts, end: true });
    this.#state = 'endSent';
    this.#resolveSent();
  }

  #send(given: Pick<LogsFrame, 'lines' | 'to' | 'ts'> & Partial<LogsFrame>): void {
    const { job_id, attempt } = this.#key;
    const { offset, lines } = this.#position;
    const frame: LogsFrame = {
      type: 'logs',
      job_id,
      attempt,
      stream: this.#stream,
      from: offset,
      dropped: 0,
      end: false,
      ...given,
    };
    this.#channel.send(frame);
    this.#partial.forget();
    this.#inFlight.push(frame.to);
    this.#position = { offset: frame.to, lines: lines + frame.lines.length + frame.dropped };
  }

  #sendPartial(text: string): void {
    const { job_id, attempt } = this.#key;
    const about = { job_id, attempt, stream: this.#stream, ts: this.#channel.clock.now() };
    this.#channel.send({ type: 'partial', ...about, text });
  }
}
