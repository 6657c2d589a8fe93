import type { AttemptKey, LogPosition, LogStream as StreamName, LogsFrame } from '@svc/contract';
import { watch, type FSWatcher } from 'node:fs';
import { LogStream, type LogChannel } from './log-stream.js';
import type { AgentLog } from './log.js';
import { attemptKey, type Clock } from './runner.js';

const READ_BYTES = 256 * 1024;
const POLL_MS = 500;
const POLL_UNWATCHED_MS = 40;
const STREAMS = ['stdout', 'stderr'] as const;

/** The socket as logs see it. */
export interface LogSocket {
  send(frame: LogsFrame): void;
  /** Resolves when the socket has room for a frame, or is gone. */
  room(): Promise<void>;
}

/** Ships the output of every attempt in the agent's care, one read at a time, so that memory stays bounded. */
export class LogShipper {
  readonly #channel: LogChannel;
  readonly #attempts = new Map<string, AttemptLogs>();
  #online = false;

  constructor(socket: LogSocket, clock: Clock, log: AgentLog) {
    this.#channel = {
      send: (frame) => socket.send(frame),
      inTurn: createTurns(() => socket.room()),
      clock,
      log,
    };
  }

  add(key: AttemptKey, paths: Readonly<Record<StreamName, string>>): AttemptLogs {
    const logs = new AttemptLogs(key, paths, this.#channel, () => this.#attempts.delete(attemptKey(key)));
    this.#attempts.set(attemptKey(key), logs);
    if (this.#online) logs.resume([]);
    return logs;
  }

  /** A connection stands; `positions` are the server's marks, 0 where none is given. */
  resume(positions: readonly LogPosition[]): void {
    this.#online = true;
    const byAttempt = new Map<string, LogPosition[]>();
    for (const position of positions) {
      const key = attemptKey(position);
      byAttempt.set(key, [...(byAttempt.get(key) ?? []), position]);
    }
    for (const [key, logs] of this.#attempts) logs.resume(byAttempt.get(key) ?? []);
  }

  pause(): void {
    this.#online = false;
    for (const logs of this.#attempts.values()) logs.pause();
  }

  ack(position: LogPosition): void {
    this.#attempts.get(attemptKey(position))?.ack(position);
  }

  close(): void {
    for (const logs of this.#attempts.values()) logs.close();
  }
}

/** Both streams of one attempt. */
export class AttemptLogs {
  readonly #streams: Readonly<Record<StreamName, LogStream>>;
  #watcher: FSWatcher | null = null;
  #poll: NodeJS.Timeout | null = null;

  constructor(
    key: AttemptKey,
    paths: Readonly<Record<StreamName, string>>,
    channel: LogChannel,
    private readonly onClose: () => void,
  ) {
    const toStream = (name: StreamName) => new LogStream(key, name, paths[name], channel);
    this.#streams = { stdout: toStream('stdout'), stderr: toStream('stderr') };
  }

  /** Ships what is written from now on at once. The directory must be there. */
  watch(dir: string): void {
    this.#watcher = this.#openWatch(dir);
    this.#poll = setInterval(
      () => this.#wakeAll(),
      this.#watcher === null ? POLL_UNWATCHED_MS : POLL_MS,
    ).unref();
  }

  /** Resolves when all of the log was sent once. */
  get sent(): Promise<unknown> {
    return Promise.all(STREAMS.map((name) => this.#streams[name].sent));
  }

  /** Resolves when the server has acknowledged all of the log. */
  get shipped(): Promise<unknown> {
    return Promise.all(STREAMS.map((name) => this.#streams[name].shipped));
  }

  /** Bytes of both streams that the server has acknowledged. */
  get ackedBytes(): number {
    return this.#streams.stdout.ackedTo + this.#streams.stderr.ackedTo;
  }

  resume(positions: readonly LogPosition[]): void {
    for (const name of STREAMS) {
      this.#streams[name].resume(positions.find(({ stream }) => stream === name)?.offset ?? 0);
    }
  }

  pause(): void {
    for (const name of STREAMS) this.#streams[name].pause();
  }

  ack({ stream, offset }: LogPosition): void {
    this.#streams[stream].ack(offset);
  }

  /** Nobody writes to the files any more. */
  finalize(): void {
    this.#stopWatching();
    for (const name of STREAMS) this.#streams[name].finalize();
  }

  close(): void {
    this.#stopWatching();
    for (const name of STREAMS) this.#streams[name].close();
    this.onClose();
  }

  /** null when the system has no watch left: then polling alone must be quick enough. */
  #openWatch(dir: string): FSWatcher | null {
    try {
      const watcher = watch(dir, { persistent: false }, (_, name) => {
        if (name === 'stdout' || name === 'stderr') this.#streams[name].wake();
      });
      return watcher.on('error', () => watcher.close());
    } catch {
      return null;
    }
  }

  #wakeAll(): void {
    for (const name of STREAMS) this.#streams[name].wake();
  }

  #stopWatching(): void {
    this.#watcher?.close();
    if (this.#poll !== null) clearInterval(this.#poll);
  }
}

/** One task at a time, first come first served, each when there is room, all with the same buffer. */
function createTurns(room: () => Promise<void>): LogChannel['inTurn'] {
  let buffer: Buffer | null = null;
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(room).then(() => task((buffer ??= Buffer.allocUnsafeSlow(READ_BYTES))));
    last = turn.catch(() => {});
    return turn;
  };
}
