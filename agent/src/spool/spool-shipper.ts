import type { AttemptKey } from '@svc/contract';
import { toReason, type AgentLog } from '../core/log.js';
import { Pace } from '../core/pace.js';
import type { RunPaths } from '../core/run-paths.js';
import { attemptKey } from '../core/runner.js';
import {
  SpoolDirectory,
  type Delivery,
  type Shipment,
  type SpoolOwner,
  type SpoolTransport,
} from './spool-directory.js';
import { MAX_LINE_BYTES } from './spool-file.js';

const POLL_MS = 500;
/** So fast the spools of this agent are replayed: when all of them come back at once, the server must live. */
const BYTES_PER_S = 4096 * 1000;

/** The socket as spools see it. */
export interface SpoolSocket {
  send(frame: Shipment): void;
  /** Resolves when the socket has room for a frame, or is gone. */
  room(): Promise<void>;
}

/** Delivers what lies in the spool directories of all managed attempts and of channels, one frame at a time. */
export class SpoolShipper {
  readonly #socket: SpoolSocket;
  readonly #log: AgentLog;
  readonly #directories = new Set<SpoolDirectory>();
  readonly #transport: SpoolTransport;
  readonly #pace = new Pace(BYTES_PER_S);
  #online = false;
  #closed = false;
  #woken = false;
  #wake = () => {};
  #awaited: { readonly id: string; settle(ack: Delivery | null): void } | null = null;
  readonly #loop: Promise<void>;

  constructor(socket: SpoolSocket, log: AgentLog) {
    this.#socket = socket;
    this.#log = log;
    let buffer: Buffer | null = null;
    this.#transport = {
      ship: (frame, sizeBytes) => this.#ship(frame, sizeBytes),
      buffer: () => (buffer ??= Buffer.allocUnsafeSlow(MAX_LINE_BYTES)),
      log,
    };
    this.#loop = this.#run();
  }

  add({ job_id, attempt }: AttemptKey, paths: RunPaths): SpoolDirectory {
    return this.addDirectory({
      paths,
      about: { job_id, attempt },
      toFrame: (file, from, lines) => ({ type: 'spool', job_id, attempt, file, from, lines }),
      isComplete: () => false,
      isWanted: () => true,
    });
  }

  addDirectory(owner: SpoolOwner): SpoolDirectory {
    const directory = new SpoolDirectory(owner, this.#transport, ({ isClosed }) => {
      if (isClosed) this.#directories.delete(directory);
      this.rouse();
    });
    this.#directories.add(directory);
    return directory;
  }

  /** A connection stands. */
  resume(): void {
    this.#online = true;
    this.rouse();
  }

  pause(): void {
    this.#online = false;
    this.#awaited?.settle(null);
  }

  ack(ack: Delivery): void {
    if (this.#awaited?.id === toId(ack)) this.#awaited.settle(ack);
  }

  /** Resolves when nothing is read or written any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.pause();
    for (const directory of this.#directories) directory.close();
    this.rouse();
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
    for (const spool of [...this.#directories]) {
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

  /** There may be something to deliver. */
  rouse(): void {
    this.#woken = true;
    this.#wake();
  }

  async #ship(frame: Shipment, sizeBytes: number): Promise<Delivery | null> {
    await this.#socket.room();
    await this.#pace.ready();
    if (!this.#online) return null;
    const ack = await new Promise<Delivery | null>((settle) => {
      this.#awaited = { id: toId(frame), settle };
      this.#socket.send(frame);
    });
    this.#awaited = null;
    this.#pace.spend(sizeBytes);
    return ack;
  }
}

function toId(frame: Shipment | Delivery): string {
  return 'channel' in frame ? `${frame.channel} ${frame.file}` : `${attemptKey(frame)} ${frame.file}`;
}
