import type { LogStream as StreamName } from '@svc/contract';
import { LOG_STREAMS } from '@svc/contract/protocol';
import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { unlessMissing } from '../core/durable-file.js';
import { toReason, type AgentLog } from '../core/log.js';
import type { Clock } from '../core/runner.js';
import type { AttemptLogs } from './attempt-logs.js';
import { findLogHead, type LogHead, type Place } from './log-head.js';
import type { LogShipper } from './log-shipper.js';
import type { LogStream } from './log-stream.js';
import { ReleasedLogs } from './released-logs.js';
import { punchHole, toHeldBytes, findHoleProblem } from './sparse-file.js';

const SPOOL_MAX_BYTES = 1024 ** 3;
const MIB = 1024 * 1024;
const LOOK_MS = 1000;
const LOOK_NEAR_FULL_MS = 200;
/** What is worth a write and a program to give back. */
const BITE_BYTES = MIB;
/** Into about so many the lines of a file are divided by age, whatever is known of it: each that is given up costs a write and a program. */
const AGES = 64;
/** Room on the disk below which what the server has is given back; on a small one the twentieth part. */
const LOW_DISK_BYTES = 64 * MIB;

export interface LogSpoolOptions {
  readonly stateDir: string;
  readonly maxBytes?: number | undefined;
  readonly logs: Pick<LogShipper, 'managed' | 'takeReleased'>;
  readonly clock: Clock;
  readonly log: AgentLog;
}

/** A file of a managed attempt. */
interface Entry {
  readonly logs: AttemptLogs;
  readonly name: StreamName;
  readonly stream: LogStream;
  /** Where its file stands in the log; offsets and sizes here are those of the log. */
  readonly start: Place;
  sizeBytes: number;
  heldBytes: number;
  /** What has been given back to the disk in this agent's life. */
  punchedTo: number;
}

/**
 * Keeps the logs of all attempts of the node below `maxBytes`, within what is written between two looks. Room is made from what the
 * server has, of released attempts, then of ended, then of running ones; then from lines that it does not have, the
 * oldest first: counted, and said by the stream in their place.
 */
export class LogSpool {
  readonly #options: LogSpoolOptions;
  readonly #maxBytes: number;
  readonly #released: ReleasedLogs;
  #entries = new Map<LogStream, Entry>();
  /** null: not tried yet. */
  #canPunch: boolean | null = null;
  #isLow = false;
  #complaint: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: LogSpoolOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? SPOOL_MAX_BYTES;
    this.#released = new ReleasedLogs(path.join(options.stateDir, 'jobs'));
  }

  /** Must hold: the attempts that an earlier agent left are managed by now. */
  start(): void {
    this.#looking = this.#released.count().then(
      () => this.#look(),
      (error: unknown) => this.#complain(error),
    );
    void this.#looking.then(() => this.#again());
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
  }

  get #heldBytes(): number {
    return [...this.#entries.values()].reduce(
      (sum, { heldBytes }) => sum + heldBytes,
      this.#released.heldBytes,
    );
  }

  get #isFull(): boolean {
    return this.#heldBytes > this.#maxBytes;
  }

  #again(): void {
    if (this.#closed) return;
    const isNearFull = this.#isLow || this.#heldBytes > 0.75 * this.#maxBytes;
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#look();
        void this.#looking.then(() => this.#again());
      },
      isNearFull ? LOOK_NEAR_FULL_MS : LOOK_MS,
    ).unref();
  }

  async #look(): Promise<void> {
    try {
      await this.#measure();
      if (this.#isFull && this.#released.heldBytes > 0) await this.#released.count();
      const wantedBytes = this.#isFull ? this.#heldBytes - (15 / 16) * this.#maxBytes : 0;
      this.#isLow = await this.#isDiskLow();
      await this.#makeRoom(wantedBytes, this.#isLow ? Infinity : wantedBytes);
      this.#complaint = null;
    } catch (error) {
      this.#complain(error);
    }
  }

  async #measure(): Promise<void> {
    const before = this.#entries;
    const now = this.#options.clock.now();
    this.#entries = new Map();
    for (const logs of this.#options.logs.managed.filter(({ hasBegun }) => hasBegun)) {
      for (const name of LOG_STREAMS) {
        const stream = logs.streams[name];
        const known = before.get(stream);
        const entry = known?.start === stream.head.start ? known : toEntry(logs, name);
        this.#entries.set(stream, entry);
        await this.#measureFile(entry, now);
      }
    }
    for (const logs of this.#options.logs.takeReleased()) await this.#released.add(logs.dir);
  }

  async #measureFile(entry: Entry, now: number): Promise<void> {
    const { stream, start } = entry;
    const file = await stat(stream.path).catch(unlessMissing);
    if (file === null) return;
    const sizeBytes = start.to + file.size;
    entry.heldBytes = toHeldBytes(file);
    if (sizeBytes < entry.sizeBytes) await stream.startAnew();
    entry.sizeBytes = sizeBytes;
    if (stream.head.start === start) stream.noteSize(file.size, now);
  }

  async #isDiskLow(): Promise<boolean> {
    const { bavail, blocks, bsize } = await statfs(this.#options.stateDir);
    return bavail * bsize < Math.min(LOW_DISK_BYTES, (blocks * bsize) / 20);
  }

  /** `harmlessBytes` of what the server has, as far as it goes; up to `wantedBytes` of what it does not have. */
  async #makeRoom(wantedBytes: number, harmlessBytes: number): Promise<void> {
    let freed = await this.#released.free(harmlessBytes);
    if (freed >= harmlessBytes || !(await this.#mayPunch())) return;
    if (await this.#punchAgain()) return;
    for (const entry of this.#acknowledged()) {
      if (freed >= harmlessBytes) return;
      const { ackedTo, head } = entry.stream;
      freed += await this.#cut(entry, Math.min(ackedTo, head.to + harmlessBytes - freed));
    }
    const stuck = new Set<Entry>();
    while (freed < wantedBytes) {
      const oldest = this.#oldest(stuck);
      if (oldest === null) return;
      const cutBytes = await this.#cut(oldest.entry, oldest.to);
      if (cutBytes === 0) stuck.add(oldest.entry);
      freed += cutBytes;
    }
  }

  /** What holds bytes that the server has: of ended attempts, then of running ones, the older first. */
  #acknowledged(): Entry[] {
    const worthBytes = Math.min(BITE_BYTES, this.#maxBytes / 64);
    return [...this.#entries.values()]
      .filter(({ stream }) => stream.ackedTo - stream.head.to >= worthBytes)
      .sort(
        (a, b) => Number(b.stream.isFinal) - Number(a.stream.isFinal) || (a.logs.dir < b.logs.dir ? -1 : 1),
      );
  }

  /** The oldest bytes that are kept; of the same age, those of the file that has the most. */
  #oldest(stuck: ReadonlySet<Entry>): { entry: Entry; to: number } | null {
    const candidates = [...this.#entries.values()].flatMap((entry) => {
      const slice = stuck.has(entry) ? null : entry.stream.ages.partAt(entry.stream.head.to, AGES);
      return slice === null ? [] : [{ entry, ...slice }];
    });
    const keptBytes = ({ sizeBytes, stream }: Entry) => sizeBytes - stream.head.to;
    const [oldest] = candidates.sort((a, b) => a.at - b.at || keptBytes(b.entry) - keptBytes(a.entry));
    if (oldest === undefined) return null;
    const { entry, to } = oldest;
    return { entry, to: Math.min(to, entry.stream.head.to + Math.ceil(this.#maxBytes / 16)) };
  }

  /** Takes the file's beginning away up to the line at `target`; resolves with the bytes that are gone. */
  async #cut(entry: Entry, target: number): Promise<number> {
    const { logs, name, stream } = entry;
    const toHead = (before: LogHead) => findLogHead(stream.path, before, target, this.#options.clock.now());
    const change = await logs.changeHead(name, toHead);
    if (change === null) return 0;
    const [before, head] = change;
    if (head.to > stream.ackedTo) {
      const about = { dir: logs.dir, stream: name, lines: head.lines - before.lines };
      this.#options.log.warn('the log spool is full: its oldest lines are given up', about);
    }
    await this.#punch(entry);
    return head.to - before.to;
  }

  /** For cuts of an earlier agent, which may have been killed just before. False when there are none. */
  async #punchAgain(): Promise<boolean> {
    const behind = [...this.#entries.values()].filter(({ stream, punchedTo }) => stream.head.to > punchedTo);
    for (const entry of behind) await this.#punch(entry);
    return behind.length > 0;
  }

  async #punch(entry: Entry): Promise<void> {
    const { path: file, head } = entry.stream;
    const bytes = head.to - head.start.to;
    if (bytes > 0) await punchHole(file, bytes);
    entry.punchedTo = head.to;
  }

  /** Tried once, when there is a need for it. */
  async #mayPunch(): Promise<boolean> {
    if (this.#canPunch !== null) return this.#canPunch;
    const { stateDir: dir, log } = this.#options;
    const reason = await findHoleProblem(dir);
    if (reason !== null)
      log.warn('the log spool cannot be bounded here: logs stay until they are shipped', { dir, reason });
    return (this.#canPunch = reason === null);
  }

  /** Each reason once, until a look went well. */
  #complain(error: unknown): void {
    const reason = toReason(error);
    if (reason !== this.#complaint)
      this.#options.log.error('the log spool cannot be kept in bounds', { reason });
    this.#complaint = reason;
  }
}

function toEntry(logs: AttemptLogs, name: StreamName): Entry {
  const stream = logs.streams[name];
  const { start } = stream.head;
  const sizes = { sizeBytes: start.to, heldBytes: 0, punchedTo: start.to };
  return { logs, name, stream, start, ...sizes };
}
