import type { AttemptKey, SpoolAck, SpoolFrame } from '@svc/contract';
import { toReason, type AgentLog } from '../core/log.js';
import { Pace } from '../core/pace.js';
import type { RunPaths } from '../core/run-paths.js';
import { attemptKey } from '../core/runner.js';
import { AttemptSpool, type SpoolChannel } from './attempt-spool.js';
import { MAX_LINE_BYTES } from './spool-file.js';

const POLL_MS = 500;
/** So fast the spools of this agent are replayed: when all of them come back at once, the server must live. */
const BYTES_PER_S = 4096 * 1000;

/** The socket as spools see it. */
export interface SpoolSocket {
  send(frame: SpoolFrame): void;
  /** Resolves when the socket has room for a frame, or is gone. */
  room(): Promise<void>;
}

/** Delivers what lies in the spool directories of all managed attempts, one frame at a time. */
export class SpoolShipper {
  readonly #socket: SpoolSocket;
  readonly #log: AgentLog;
  readonly #attempts = new Map<string, AttemptSpool>();
  readonly #channel: SpoolChannel;
  readonly #pace = new Pace(BYTES_PER_S);
  #online = false;
  #closed = false;
  #woken = false;
  #wake = () => {};
  #awaited: { readonly frame: SpoolFrame; settle(ack: SpoolAck | null): void } | null = null;
  readonly #loop: Promise<void>;

  constructor(socket: SpoolSocket, log: AgentLog) {
    this.#socket = socket;
    this.#log = log;
    let buffer: Buffer | null = null;
    this.#channel = {
      ship: (frame, sizeBytes) => this.#ship(frame, sizeBytes),
      buffer: () => (buffer ??= Buffer.allocUnsafeSlow(MAX_LINE_BYTES)),
      log,
    };
    this.#loop = this.#run();
  }

  add(key: AttemptKey, paths: RunPaths): AttemptSpool {
    const spool = new AttemptSpool(key, paths, this.#channel, ({ isClosed }) => {
      if (isClosed) this.#attempts.delete(attemptKey(key));
      this.#rouse();
    });
    this.#attempts.set(attemptKey(key), spool);
    return spool;
  }

  /** A connection stands. */
  resume(): void {
    this.#online = true;
    this.#rouse();
  }

  pause(): void {
    this.#online = false;
    this.#awaited?.settle(null);
  }

  ack(ack: SpoolAck): void {
    const frame = this.#awaited?.frame;
    if (frame?.file === ack.file && attemptKey(frame) === attemptKey(ack)) this.#awaited?.settle(ack);
  }

  /** Resolves when nothing is read or written any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.pause();
    for (const spool of this.#attempts.values()) spool.close();
    this.#rouse();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#woken = false;
      if (!(this.#online && (await this.#pass()))) await this.#idle();
    }
  }

  async #pass(): Promise<boolean> {
    let hasMoved = false;
    for (const spool of [...this.#attempts.values()]) {
      try {
        if (this.#online && (await spool.step())) hasMoved = true;
      } catch (error) {
        this.#log.error('a spool cannot be delivered now', { reason: toReason(error) });
      }
    }
    return hasMoved;
  }

  /** Until it is roused, or it is time to look again. Offline there is nothing to look for. */
  async #idle(): Promise<void> {
    if (this.#woken) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#online) timer = setTimeout(resolve, POLL_MS).unref();
    });
    clearTimeout(timer);
  }

  #rouse(): void {
    this.#woken = true;
    this.#wake();
  }

  async #ship(frame: SpoolFrame, sizeBytes: number): Promise<SpoolAck | null> {
    await this.#socket.room();
    await this.#pace.ready();
    if (!this.#online) return null;
    const ack = await new Promise<SpoolAck | null>((settle) => {
      this.#awaited = { frame, settle };
      this.#socket.send(frame);
    });
    this.#awaited = null;
    this.#pace.spend(sizeBytes);
    return ack;
  }
}
