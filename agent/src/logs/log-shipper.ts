import type { AttemptKey, LogPosition } from '@svc/contract';
import type { AgentLog } from '../core/log.js';
import { attemptKey, type Clock } from '../core/runner.js';
import { AttemptLogs, type LogPaths } from './attempt-logs.js';
import { createLogChannel, type LogChannel, type LogSocket } from './log-channel.js';

const REPLAY_BYTES_PER_S = 32 * 1024 * 1024;

/** Ships the output of every managed attempt, one read at a time, so that memory stays bounded. */
export class LogShipper {
  readonly #channel: LogChannel;
  readonly #attempts = new Map<string, AttemptLogs>();
  #released: AttemptLogs[] = [];
  #online = false;

  /** What was written without a connection is sent at `replayBytesPerS` at most, all attempts together. */
  constructor(socket: LogSocket, clock: Clock, log: AgentLog, replayBytesPerS = REPLAY_BYTES_PER_S) {
    this.#channel = createLogChannel(socket, clock, log, replayBytesPerS);
  }

  /** The logs of every managed attempt, those taken up first first. */
  get managed(): readonly AttemptLogs[] {
    return [...this.#attempts.values()];
  }

  /** Those that were released since the last call. */
  takeReleased(): readonly AttemptLogs[] {
    const released = this.#released;
    this.#released = [];
    return released;
  }

  add(key: AttemptKey, paths: LogPaths): AttemptLogs {
    const logs = new AttemptLogs(key, paths, this.#channel, () => {
      this.#attempts.delete(attemptKey(key));
      this.#released.push(logs);
    });
    this.#attempts.set(attemptKey(key), logs);
    if (this.#online) logs.resume([]);
    return logs;
  }

  /** A connection stands; `positions` are the server's, 0 where none is given. */
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
