import type { AttemptKey, LogPosition, LogStream as StreamName } from '@svc/contract';
import { LOG_STREAMS } from '@svc/contract/protocol';
import { watch, type FSWatcher } from 'node:fs';
import { toReason } from '../core/log.js';
import { retry } from '../core/retry.js';
import type { LogChannel } from './log-channel.js';
import { ensureLogHeads, saveLogHeads, type LogHead } from './log-head.js';
import type { ServerPosition } from './log-sender.js';
import { LogStream } from './log-stream.js';

const POLL_MS = 500;
const POLL_UNWATCHED_MS = 40;
const AT_START: ServerPosition = { offset: 0, lines: 0 };

/** The directory of an attempt, and the files in it that its process appends to. */
export type LogPaths = Readonly<Record<'dir' | StreamName, string>>;

/** Both streams of one attempt. */
export class AttemptLogs {
  readonly #paths: LogPaths;
  readonly #channel: LogChannel;
  readonly #onClose: () => void;
  readonly #streams: Readonly<Record<StreamName, LogStream>>;
  /** The last change of the heads. */
  #changing: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #isBeginning = false;
  #hasBegun = false;
  #watcher: FSWatcher | null = null;
  #poll: NodeJS.Timeout | null = null;

  constructor(key: AttemptKey, paths: LogPaths, channel: LogChannel, onClose: () => void) {
    this.#paths = paths;
    this.#channel = channel;
    this.#onClose = onClose;
    const toStream = (name: StreamName) =>
      new LogStream(key, name, paths[name], channel, (toHead) => this.changeHead(name, toHead));
    this.#streams = { stdout: toStream('stdout'), stderr: toStream('stderr') };
  }

  get dir(): string {
    return this.#paths.dir;
  }

  /** The files, once they are there, are this attempt's own. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get streams(): Readonly<Record<StreamName, LogStream>> {
    return this.#streams;
  }

  /**
   * Moves a head, one at a time: it is on the disk before the stream goes by it. Resolves with the one before and the new one;
   * null when nothing has changed.
   */
  changeHead(
    name: StreamName,
    toHead: (before: LogHead) => LogHead | Promise<LogHead>,
  ): Promise<readonly [before: LogHead, made: LogHead] | null> {
    const changing = this.#changing.then(async () => {
      const stream = this.#streams[name];
      const before = stream.head;
      const made = await toHead(before);
      if (made.to === before.to || this.#isClosed) return null;
      const { stdout, stderr } = this.#streams;
      await saveLogHeads(this.dir, { stdout: stdout.head, stderr: stderr.head, [name]: made });
      stream.raiseHead(made);
      return [before, made] as const;
    });
    this.#changing = changing.catch(() => {});
    return changing;
  }

  /** Ships what is written from now on at once. The directory must be there. */
  watch(): void {
    this.#begin();
    this.#watcher = this.#openWatch();
    this.#poll = setInterval(
      () => this.#wakeAll(),
      this.#watcher === null ? POLL_UNWATCHED_MS : POLL_MS,
    ).unref();
  }

  /** Resolves when all of the log was sent once. */
  get sent(): Promise<unknown> {
    return Promise.all(LOG_STREAMS.map((name) => this.#streams[name].sent));
  }

  /** Resolves when the server has acknowledged all of the log. */
  get shipped(): Promise<unknown> {
    return Promise.all(LOG_STREAMS.map((name) => this.#streams[name].shipped));
  }

  resume(positions: readonly LogPosition[]): void {
    for (const name of LOG_STREAMS) {
      this.#streams[name].resume(positions.find(({ stream }) => stream === name) ?? AT_START);
    }
  }

  pause(): void {
    for (const name of LOG_STREAMS) this.#streams[name].pause();
  }

  ack(position: LogPosition): void {
    this.#streams[position.stream].ack(position);
  }

  /** Nobody writes to the files any more. */
  finalize(): void {
    this.#stopWatching();
    this.#begin();
    for (const name of LOG_STREAMS) this.#streams[name].finalize();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopWatching();
    for (const name of LOG_STREAMS) this.#streams[name].close();
    this.#onClose();
  }

  /** Must hold: nothing is read before the directory is this attempt's own, and before it is known what was cut off. */
  #begin(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    const begun = retry(() => this.#beginStreams(), {
      isWanted: () => !this.#isClosed,
      onFailure: (error) =>
        this.#channel.log.error('a log cannot be shipped yet', { dir: this.dir, reason: toReason(error) }),
    });
    void begun.then(
      () => (this.#hasBegun = true),
      () => {},
    );
  }

  async #beginStreams(): Promise<void> {
    const heads = await ensureLogHeads(this.dir);
    for (const name of LOG_STREAMS) await this.#streams[name].begin(heads[name]);
  }

  /** null when the system has no watch left: then polling alone must be quick enough. */
  #openWatch(): FSWatcher | null {
    try {
      const watcher = watch(this.dir, { persistent: false }, (_, name) => {
        if (name === 'stdout' || name === 'stderr') this.#streams[name].wake();
      });
      return watcher.on('error', () => watcher.close());
    } catch {
      return null;
    }
  }

  #wakeAll(): void {
    for (const name of LOG_STREAMS) this.#streams[name].wake();
  }

  #stopWatching(): void {
    this.#watcher?.close();
    if (this.#poll !== null) clearInterval(this.#poll);
  }
}
