import type { LogsFrame, PartialFrame } from '@svc/contract';
import type { AgentLog } from '../core/log.js';
import { Pace } from '../core/pace.js';
import type { Clock } from '../core/runner.js';

const READ_BYTES = 256 * 1024;

/** The socket as logs see it. */
export interface LogSocket {
  send(frame: LogsFrame | PartialFrame): void;
  /** Resolves when the socket has room for a frame, or is gone. */
  room(): Promise<void>;
}

/** What all streams of an agent share, so that its memory does not grow with their number. */
export interface LogChannel {
  send(frame: LogsFrame | PartialFrame): void;
  /** Runs the tasks one at a time, each with the one read buffer, once the socket has room. */
  inTurn<T>(task: (buffer: Buffer) => Promise<T>): Promise<T>;
  /** Of what was there before the connection. */
  readonly replayPace: Pace;
  readonly clock: Clock;
  readonly log: AgentLog;
}

export function createLogChannel(
  socket: LogSocket,
  clock: Clock,
  log: AgentLog,
  replayBytesPerS: number,
): LogChannel {
  let buffer: Buffer | null = null;
  let last: Promise<unknown> = Promise.resolve();
  return {
    send: (frame) => socket.send(frame),
    inTurn: (task) => {
      const turn = last
        .then(() => socket.room())
        .then(() => task((buffer ??= Buffer.allocUnsafeSlow(READ_BYTES))));
      last = turn.catch(() => {});
      return turn;
    },
    replayPace: new Pace(replayBytesPerS),
    clock,
    log,
  };
}
