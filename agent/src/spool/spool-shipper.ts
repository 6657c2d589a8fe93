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

/** Frames that wait for their answer, of as many directories: one whose records take the server long must not hold up the others. */
const MAX_IN_FLIGHT = 4;

/** The socket as spools see it. */
export interface SpoolSocket {
  send(frame: Shipment): void;
  /** Resolves when the socket has room for a frame, or is gone. */
  room(): Promise<void>;
}

/** Delivers what lies in the spool directories of all managed attempts and of channels. Directories have their turns; of each, one frame at a time is on its way. */
export class SpoolShipper {
  readonly #socket: SpoolSocket;
  readonly #log: AgentLog;
  readonly #directories = new Set<SpoolDirectory>();
  /** Those that are to be looked at, in the order of their turns. */
  readonly #due = new Set<SpoolDirectory>();
  readonly #steps = new Map<SpoolDirectory, Promise<void>>();
  readonly #buffers: Buffer[] = [];
  readonly #transport: SpoolTransport;
  readonly #pace = new Pace(BYTES_PER_S);
  readonly #awaited = new Map<string, (ack: Delivery | null) => void>();
  readonly #poll: NodeJS.Timeout;
  #online = false;
  #closed = false;

  constructor(socket: SpoolSocket, log: AgentLog) {
    this.#socket = socket;
    this.#log = log;
    this.#transport = { ship: (frame, sizeBytes) => this.#ship(frame, sizeBytes), log };
    this.#poll = setInterval(() => this.rouse(), POLL_MS).unref();
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
      if (isClosed) this.#due.delete(directory);
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
    for (const settle of [...this.#awaited.values()]) settle(null);
  }

  ack(ack: Delivery): void {
    this.#awaited.get(toId(ack))?.(ack);
  }

  /** Resolves when nothing is read or written any more. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#poll);
    this.pause();
    for (const directory of this.#directories) directory.close();
    await Promise.all(this.#steps.values());
  }

  /** There may be something to deliver. */
  rouse(): void {
    for (const spool of this.#directories) this.#due.add(spool);
    this.#startSteps();
  }

  #startSteps(): void {
    for (const spool of this.#due) {
      if (!this.#online || this.#closed || this.#steps.size >= MAX_IN_FLIGHT) return;
      if (this.#steps.has(spool)) continue;
      this.#due.delete(spool);
      this.#steps.set(spool, this.#step(spool));
    }
  }

  async #step(spool: SpoolDirectory): Promise<void> {
    const buffer = this.#buffers.pop() ?? Buffer.allocUnsafeSlow(MAX_LINE_BYTES);
    let hasMoved = false;
    try {
      hasMoved = await spool.step(buffer);
    } catch (error) {
      this.#log.error('a spool cannot be delivered now', { reason: toReason(error) });
    }
    this.#buffers.push(buffer);
    this.#steps.delete(spool);
    // At the end: the others have their turns first.
    if (hasMoved && this.#directories.has(spool)) this.#due.add(spool);
    this.#startSteps();
  }

  async #ship(frame: Shipment, sizeBytes: number): Promise<Delivery | null> {
    await this.#socket.room();
    await this.#pace.ready();
    if (!this.#online) return null;
    const id = toId(frame);
    const ack = await new Promise<Delivery | null>((settle) => {
      this.#awaited.set(id, settle);
      this.#socket.send(frame);
    });
    this.#awaited.delete(id);
    this.#pace.spend(sizeBytes);
    return ack;
  }
}

function toId(frame: Shipment | Delivery): string {
  return 'channel' in frame ? `${frame.channel} ${frame.file}` : `${attemptKey(frame)} ${frame.file}`;
}
