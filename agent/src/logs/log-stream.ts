import type { AttemptKey, LogStream as StreamName } from '@svc/contract';
import { toReason } from '../core/log.js';
import type { LogChannel } from './log-channel.js';
import type { Lines } from './line-splitter.js';
import type { LogAges, Slice } from './log-ages.js';
import type { LogHead, Place } from './log-head.js';
import { LogPump } from './log-pump.js';
import { LogReader, type LogRead } from './log-reader.js';
import { LogSender, type ServerPosition } from './log-sender.js';

/** Moves the head of a stream, durably. */
export type ChangeHead = (toHead: (before: LogHead) => LogHead) => Promise<unknown>;

/**
 * Ships one file, line by line, from the server's position on. The file is the only store: whatever the connection
 * loses is read again. What was cut off its beginning is said in place of the lines. A job that opens `/dev/stdout` anew empties
 * its file: then the log goes on with the file's first byte, behind a line that says so.
 */
export class LogStream {
  readonly #name: StreamName;
  readonly #channel: LogChannel;
  readonly #changeHead: ChangeHead;
  readonly #reader: LogReader;
  readonly #sender: LogSender;
  readonly #pump: LogPump;
  #hasBegun = false;
  #isStartingAnew = false;
  #isFinal = false;

  constructor(key: AttemptKey, name: StreamName, path: string, channel: LogChannel, changeHead: ChangeHead) {
    this.#name = name;
    this.#channel = channel;
    this.#changeHead = changeHead;
    this.#reader = new LogReader(path, channel.replayPace, channel.clock);
    this.#sender = new LogSender(key, name, channel, () => this.wake());
    this.#pump = new LogPump(
      () => this.#ship(),
      (error) => this.#onFailure(error),
    );
  }

  get path(): string {
    return this.#reader.path;
  }

  /** Resolves when everything up to the end was sent once. */
  get sent(): Promise<void> {
    return this.#sender.sent;
  }

  /** Resolves when the server has acknowledged the end. */
  get shipped(): Promise<void> {
    return this.#sender.shipped;
  }

  /** Bytes that the server has acknowledged. */
  get ackedTo(): number {
    return this.#sender.ackedTo;
  }

  get head(): LogHead {
    return this.#reader.head;
  }

  /** When what the server does not have was written. */
  get ages(): LogAges {
    return this.#reader.ages;
  }

  /** A look has found the file to have that size: about once a second, also without a connection. */
  noteSize(sizeBytes: number, at: number): void {
    this.#reader.noteSize(sizeBytes, at);
  }

  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** The file, once it is there, is this stream's own. */
  async begin(head: LogHead): Promise<void> {
    this.#reader.head = head;
    await this.#reader.lookAtStart();
    this.#hasBegun = true;
    this.raiseHead(head);
  }

  /** What lies before the head is not read from now on. Must hold: called before the bytes go. */
  raiseHead(head: LogHead): void {
    this.#reader.head = head;
    if (this.#sender.position.offset < head.to) this.#reader.discardRead();
    this.wake();
  }

  /** The file has been emptied: the log goes on with its first byte. Without the server's position nobody knows behind what. */
  async startAnew(): Promise<void> {
    if (!this.#sender.isPositionKnown) return;
    const { start } = this.head;
    this.#reader.discardRead();
    this.#isStartingAnew = true;
    try {
      await this.#changeHead((before) => (before.start === start ? this.#toNewStart(before) : before));
    } finally {
      this.#isStartingAnew = false;
      this.wake();
    }
  }

  /** A connection stands; the server has everything before that. */
  resume(position: ServerPosition): void {
    this.#sender.resume(position);
    this.ages.forget(position.offset);
    this.#reader.rewindTo(position.offset);
    this.wake();
  }

  pause(): void {
    this.#sender.pause();
    this.#reader.discardRead();
  }

  /** The server's answer to the oldest frame that it has not answered yet. */
  ack(position: ServerPosition): void {
    if (this.#sender.ack(position)) return this.resume(position);
    this.ages.forget(this.ackedTo);
    this.wake();
  }

  /** Nobody writes to the file any more. */
  finalize(): void {
    this.#isFinal = true;
    this.#pump.wakeNow();
  }

  /** The file may have grown. */
  wake(): void {
    if (this.#sender.isOnline) this.#pump.wake();
  }

  close(): void {
    this.pause();
    void this.#pump.stop().then(() => this.#reader.close());
  }

  async #ship(): Promise<void> {
    while (this.#mayRead) {
      await this.#reader.waitForPace();
      const found = await this.#channel.inTurn((buffer) => this.#readAndSend(buffer));
      if (found === 'emptied') await this.startAnew();
      if (found === 'nothing') return;
    }
  }

  async #onFailure(error: unknown): Promise<void> {
    this.#channel.log.warn('cannot read the log', { path: this.path, reason: toReason(error) });
    await this.#reader.close();
  }

  get #mayRead(): boolean {
    return this.#hasBegun && !this.#isStartingAnew && this.#sender.hasRoom;
  }

  async #readAndSend(buffer: Buffer): Promise<LogRead['found']> {
    if (!this.#mayRead) return 'nothing';
    if (this.#sender.position.offset < this.head.to) this.#sendHead();
    const isFinal = this.#isFinal;
    const { found, lines } = await this.#reader.read(buffer);
    this.#sendLines(lines);
    if (found === 'nothing' && isFinal) this.#sendEnd();
    // Also while the file grows: a fast progress bar leaves no read without new bytes.
    else if (found === 'nothing' || (found === 'lines' && lines.texts.length === 0))
      this.#sender.showPartial(this.#reader.partialText);
    return found;
  }

  /** Lines of one age go together. */
  #sendLines({ texts, ends }: Lines): void {
    for (let first = 0; first < texts.length;) {
      const age = this.#ageOf(ends[first] as number);
      let behind = first + 1;
      while (behind < ends.length && (ends[behind] as number) <= age.to) behind += 1;
      this.#sender.sendLines({ texts: texts.slice(first, behind), ends: ends.slice(first, behind) }, age.at);
      first = behind;
    }
  }

  #sendEnd(): void {
    const { position } = this.#reader;
    this.#sender.sendEnd(this.#reader.takePartialLine().texts, position, this.#ageOf(position).at);
  }

  /** When the line that ends there was seen. What no look has seen yet is seen now. */
  #ageOf(end: number): Slice {
    return this.ages.sliceAt(end - 1) ?? { at: this.#channel.clock.now(), to: Infinity };
  }

  /** What the server has not got of the lines that are gone. */
  #sendHead(): void {
    const { start, ...head } = this.head;
    if (this.#sender.position.offset < start.to) this.#sender.sendGap(start, [toEmptiedNotice(this.#name)]);
    if (this.#sender.position.offset < head.to) this.#sender.sendGap(head, []);
    this.#reader.skipToHead();
  }

  /** Behind everything that was sent, cut off or read; the line that says it has a byte of its own. */
  #toNewStart(before: LogHead): LogHead {
    if (this.#sender.isSending && this.#sender.position.offset >= before.to)
      this.#sendLines(this.#reader.takePartialLine());
    const { offset, lines } = this.#sender.position;
    const start: Place = {
      to: Math.max(offset, before.to) + 1,
      lines: Math.max(lines, before.lines) + 1,
      at: this.#channel.clock.now(),
    };
    return { ...start, start };
  }
}

function toEmptiedNotice(name: StreamName): string {
  return (
    `[svc] the job emptied its own log here: it opened /dev/${name} anew, or truncated it. What was not read by then is lost. ` +
    `To lose nothing, append (>> /dev/${name}) or write to descriptor ${name === 'stdout' ? 1 : 2}.`
  );
}
