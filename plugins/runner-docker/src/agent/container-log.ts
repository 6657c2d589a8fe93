import type { RunPaths } from '@svc/agent';
import { unlessMissing } from '@svc/agent/durable-file';
import type { Container } from 'dockerode';
import { appendFile, stat } from 'node:fs/promises';
import { LogFrames, type LogMessage } from './log-frames.js';

const NEWLINE = Buffer.from('\n');
export const STREAMS = ['stdout', 'stderr'] as const;

/** Where a stream of the log has been copied to. */
export interface LogMark {
  /** Of the newest message; null: the log is read from its beginning, as there is none yet or the clock was set back. */
  readonly time: string | null;
  /** The size of the file before the first message of that time. */
  readonly offset: number;
  /** The size of the file before the first message of all. */
  readonly first: number;
}
export type LogMarks = Readonly<Record<(typeof STREAMS)[number], LogMark>>;

/**
 * Copies the log that the engine keeps to the attempt's files, each byte once, whoever is killed meanwhile. What a file holds behind a mark was copied
 * already: messages from the time of the mark on are read again, and that many bytes of them are skipped.
 */
export class ContainerLog {
  readonly #streams: Readonly<Record<LogMessage['stream'], StreamCopy>>;

  constructor(paths: Pick<RunPaths, 'stdout' | 'stderr'>, marks: LogMarks) {
    this.#streams = {
      stdout: new StreamCopy(paths.stdout, marks.stdout),
      stderr: new StreamCopy(paths.stderr, marks.stderr),
    };
  }

  get marks(): LogMarks {
    const { stdout, stderr } = this.#streams;
    return { stdout: stdout.mark, stderr: stderr.mark };
  }

  /**
   * Copies what is there and what comes, until the container ends, the engine goes away or the signal aborts. Again: goes on where it was.
   * Rejects when the engine or the disk refuses. `onCopied`: after each piece.
   */
  async copy(container: Container, signal: AbortSignal, onCopied: () => void): Promise<void> {
    await Promise.all(STREAMS.map((name) => this.#streams[name].rewind()));
    const frames = new LogFrames();
    for await (const piece of await this.#read(container, signal)) {
      const messages = frames.push(piece as Buffer);
      for (const name of STREAMS)
        await this.#streams[name].append(messages.filter(({ stream }) => stream === name));
      onCopied();
    }
  }

  /** Must hold: it follows also a container that has ended, which ends the stream. The client collects what it does not follow, and a log may be long. */
  async #read(container: Container, abortSignal: AbortSignal): Promise<NodeJS.ReadableStream> {
    const since = toSince(Object.values(this.marks));
    const wanted = { follow: true, stdout: true, stderr: true, timestamps: true, abortSignal } as const;
    // Its type takes numbers alone, which have no room for nanoseconds.
    return container.logs({ ...wanted, ...(since !== null && { since: since as unknown as number }) });
  }
}

/** The earliest time from which something is wanted; null: from the beginning. */
function toSince(marks: readonly LogMark[]): string | null {
  const times = marks.map(({ time }) => time);
  return times.includes(null) ? null : ((times as string[]).sort()[0] ?? null);
}

/** One stream of the log, and its file. */
class StreamCopy {
  mark: LogMark;
  readonly #file: string;
  /** The place in the file of what the engine sends next. */
  #position: number;
  /** The size of the file: what comes before it is there. */
  #written: number;
  /** The engine also sends what is older than the mark, when the other stream's is older. */
  #isBeforeMark = false;
  /** The newest message is a later part of a long line, without an end: Docker 20.10 forgets the end of such a line, which the time of the next one shows. */
  #isInParts = false;
  #newest: string | null = null;
  #last: string | null = null;

  constructor(file: string, mark: LogMark) {
    this.#file = file;
    this.mark = mark;
    this.#position = this.#written = mark.offset;
  }

  async rewind(): Promise<void> {
    if (this.mark.time !== null && Date.now() / 1000 < Number(this.mark.time))
      this.mark = this.#toBeginning();
    const { offset, time } = this.mark;
    const found = await stat(this.#file).catch(unlessMissing);
    this.#position = offset;
    this.#written = Math.max(found?.size ?? 0, offset);
    this.#isBeforeMark = time !== null;
    this.#isInParts = false;
    this.#newest = time;
    this.#last = null;
  }

  /** Must hold: the mark moves once the bytes are in the file, so that a copy that fails leaves no gap. */
  async append(messages: readonly LogMessage[]): Promise<void> {
    let mark = this.mark;
    const fresh: Buffer[] = [];
    for (const { time, bytes } of messages) {
      if (this.#isBeforeMark && mark.time !== null && time < mark.time) continue;
      // The engine no longer has the message of the mark: nothing that is in the file comes again.
      if (this.#isBeforeMark && time !== mark.time) this.#position = this.#written;
      this.#isBeforeMark = false;
      const isContinued = time === this.#last;
      if (!isContinued && this.#isInParts) fresh.push(this.#place(NEWLINE));
      mark = this.#next(mark, time);
      fresh.push(this.#place(bytes));
      this.#isInParts = isContinued && bytes.at(-1) !== NEWLINE[0];
    }
    await this.#write(Buffer.concat(fresh));
    this.mark = mark;
  }

  /**
   * With a message of that time. A clock that was set back leaves no time from which the rest could be asked for, so the log is read from its beginning until
   * the clock is where it was. Must hold: the mark stays where it is while messages come that the file holds already.
   */
  #next(mark: LogMark, time: string): LogMark {
    const [newest, isFresh] = [this.#newest, this.#position >= this.#written];
    this.#last = time;
    if (newest !== null && time < newest) return this.#toBeginning();
    this.#newest = time;
    return isFresh && time !== newest ? { ...mark, time, offset: this.#position } : mark;
  }

  #toBeginning(): LogMark {
    const { first } = this.mark;
    return { time: null, offset: first, first };
  }

  /** What of these bytes is not in the file yet. */
  #place(bytes: Buffer): Buffer {
    const known = Math.max(0, this.#written - this.#position);
    this.#position += bytes.length;
    return bytes.subarray(known);
  }

  async #write(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    await appendFile(this.#file, bytes, { mode: 0o600 });
    this.#written += bytes.length;
  }
}
