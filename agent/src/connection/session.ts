import type { AgentFrame, Hello, ServerFrame, Welcome } from '@svc/contract';
import { toBackoffMs, toSlowBackoffMs } from '../core/backoff.js';
import type { AgentLog } from '../core/log.js';
import type { Clock } from '../core/runner.js';
import { Connection, type Leave } from './connection.js';

export interface SessionTiming {
  /** For the opening of the socket, and again for the answer to hello. */
  readonly greetingMs: number;
  /** Between pings; a server silent for two and a half of them is taken for dead. */
  readonly pingMs: number;
  /** After a connection that lasted so long, the count of failures starts again. */
  readonly stableMs: number;
}

export const SESSION_TIMING: SessionTiming = { greetingMs: 15_000, pingMs: 10_000, stableMs: 10_000 };

/** The agent behind the session. */
export interface SessionHandler {
  /** Awaited before each hello. */
  prepare(): Promise<void>;
  hello(): Hello;
  /** Comes before every other frame of its connection. When it throws nothing is sent on it any more. */
  onWelcome(welcome: Welcome): void;
  onFrame(frame: ServerFrame): void;
  onOffline(): void;
}

export interface SessionOptions {
  /** http or https, without the path of the socket. */
  readonly url: string;
  readonly token: string;
  readonly clock: Clock;
  readonly log: AgentLog;
  readonly timing: SessionTiming;
}

/** Keeps a connection to the server, coming back after whatever happens, until it is closed. */
export class Session {
  readonly #options: SessionOptions;
  readonly #handler: SessionHandler;
  #connection: Connection | null = null;
  #failures = 0;
  #lastReason: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #onClosed: (() => void) | null = null;

  constructor(options: SessionOptions, handler: SessionHandler) {
    this.#options = options;
    this.#handler = handler;
  }
  start(): void {
    this.#timer = null;
    this.#connection = new Connection(this.#options, this.#handler, (leave) => this.#leave(leave));
  }

  get isOnline(): boolean {
    return this.#connection?.isOnline ?? false;
  }

  /** Without a connection the frame is dropped: hello names every attempt, and the log is in its file. */
  send(frame: AgentFrame): void {
    this.#connection?.send(frame);
  }

  /** Resolves when the socket has room for a large frame, or is gone. */
  async room(): Promise<void> {
    await this.#connection?.room();
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      if (this.#connection === null) resolve();
      else this.#connection.close();
    });
  }

  #leave(leave: Leave): void {
    const wasOnline = leave.onlineMs > 0;
    this.#connection = null;
    if (wasOnline) this.#handler.onOffline();
    if (this.#onClosed !== null) return this.#onClosed();
    const isFirst = leave.awaited || leave.onlineMs > this.#options.timing.stableMs;
    this.#failures = isFirst ? 1 : this.#failures + 1;
    const random = Math.random();
    const waitMs = leave.refused ? toSlowBackoffMs(random) : toBackoffMs(this.#failures, random);
    this.#say(leave.reason ?? `the server at ${this.#options.url} closed the connection`, wasOnline, waitMs);
    this.#timer = setTimeout(() => this.start(), waitMs);
  }

  /** Each reason once, until there was a connection again. */
  #say(reason: string, wasOnline: boolean, waitMs: number): void {
    const isNew = wasOnline || reason !== this.#lastReason;
    this.#lastReason = reason;
    this.#options.log[isNew ? 'warn' : 'debug'](reason, { next_try_ms: Math.round(waitMs) });
  }
}
