import type { AttemptKey } from '@svc/contract';
import { failBoot } from '@svc/hooks';
import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { ensureDurableDir, listNames } from '../core/durable-file.js';
import type { AgentLog } from '../core/log.js';
import type { Channel } from '../core/plugin.js';
import { within } from '../core/within.js';
import { MAX_LINE_BYTES, type SpoolLine } from './spool-file.js';
import type { SpoolOwner } from './spool-directory.js';
import type { SpoolShipper } from './spool-shipper.js';

const NAME = /^[a-z0-9]+([.-][a-z0-9]+)*$/;
const DIGITS = 10;
const SEGMENT = /^\d{10}\.jsonl$/;
const SEGMENT_BYTES = 1024 * 1024;
/** What a channel may hold for a server that is away, or does not take it. */
const MAX_SEGMENTS = 32;

/** The channels of an agent's plugins: `<state dir>/channels/<name>/`. */
export class Channels {
  readonly #channels = new Map<string, ChannelSpool>();
  readonly #dir: string;
  readonly #log: AgentLog;
  #wanted: ReadonlySet<string> = new Set();
  #onMessage = () => {};

  constructor(stateDir: string, log: AgentLog) {
    this.#dir = path.join(stateDir, 'channels');
    this.#log = log;
  }

  /** Throws BootError for a name that is no name, or is another's. */
  open(plugin: string, name: string): Channel {
    if (!NAME.test(name))
      failBoot(`plugin "${plugin}": the channel "${name}" needs a name as in "docker.images"`, plugin);
    if (this.#channels.has(name))
      failBoot(`plugin "${plugin}": there is a channel "${name}" already`, plugin);
    const isWanted = () => this.#wanted.has(name);
    const channel = new ChannelSpool(name, path.join(this.#dir, name), this.#log, {
      isWanted,
      onMessage: () => this.#onMessage(),
    });
    this.#channels.set(name, channel);
    return {
      send: async (message, attempt) => void (await channel.send(message, attempt)),
      deliver: (message, withinMs, attempt) => channel.deliver(message, withinMs, attempt),
    };
  }

  shipBy(shipper: SpoolShipper): void {
    for (const channel of this.#channels.values()) shipper.addDirectory(channel);
    this.#onMessage = () => shipper.rouse();
  }

  /** The server takes the messages of these. */
  welcomed(names: readonly string[]): void {
    this.#wanted = new Set(names);
  }

  /** Resolves when what was given is on the disk. */
  async close(): Promise<void> {
    await Promise.all([...this.#channels.values()].map((channel) => channel.close()));
  }
}

interface Segment {
  readonly name: string;
  readonly handle: FileHandle;
  sizeBytes: number;
}

/** Where a message ends. */
interface Place {
  readonly file: string;
  readonly to: number;
}

interface Awaited extends Place {
  resolve(): void;
}

interface ChannelHost {
  isWanted(): boolean;
  onMessage(): void;
}

/**
 * The messages of one channel that the server does not have, in files of about a MiB. Each agent begins a file of its own: what
 * a killed one wrote last may be torn. When there are too many the oldest goes, and that is said.
 */
class ChannelSpool implements SpoolOwner {
  readonly paths: SpoolOwner['paths'];
  readonly about: { readonly channel: string };
  readonly #log: AgentLog;
  readonly #host: ChannelHost;
  #work: Promise<unknown> = Promise.resolve();
  /** Of the last segment: no number is used again. */
  #number = 0;
  #current: Segment | null = null;
  /** Messages whose senders wait for the server. */
  readonly #awaited = new Set<Awaited>();

  constructor(name: string, dir: string, log: AgentLog, host: ChannelHost) {
    this.paths = { spool: dir, spoolMarks: path.join(dir, 'spool.json'), refused: `${dir}.refused.jsonl` };
    this.about = { channel: name };
    this.#log = log;
    this.#host = host;
  }

  /** Resolves when the message is on the disk. */
  send(message: unknown, attempt?: AttemptKey): Promise<Place> {
    const sending = this.#work.then(() => this.#append(toLine(message, attempt)));
    this.#work = sending.catch(() => {});
    return sending;
  }

  async deliver(message: unknown, withinMs: number, attempt?: AttemptKey): Promise<void> {
    const place = await this.send(message, attempt);
    if (!this.isWanted()) return;
    let awaited: Awaited | undefined;
    const delivered = new Promise<void>((resolve) => this.#awaited.add((awaited = { ...place, resolve })));
    await within(delivered, withinMs);
    this.#awaited.delete(awaited!);
  }

  onDelivered(file: string, mark: number): void {
    for (const awaited of this.#awaited) if (awaited.file === file && awaited.to <= mark) awaited.resolve();
  }

  async close(): Promise<void> {
    await this.#work;
    await this.#end();
  }

  toFrame(file: string, from: number, lines: SpoolLine[]) {
    return { type: 'channel', channel: this.about.channel, file, from, lines } as const;
  }

  isComplete(file: string): boolean {
    return file !== this.#current?.name;
  }

  isWanted(): boolean {
    return this.#host.isWanted();
  }

  async #append(line: Buffer): Promise<Place> {
    const isFull = this.#current === null || this.#current.sizeBytes >= SEGMENT_BYTES;
    const segment = isFull ? await this.#begin() : this.#current!;
    try {
      await segment.handle.appendFile(line);
      await segment.handle.datasync();
    } catch (error) {
      // The line may be there in part: the next message begins a file of its own.
      await this.#end();
      throw error;
    }
    segment.sizeBytes += line.length;
    this.#host.onMessage();
    return { file: segment.name, to: segment.sizeBytes };
  }

  async #begin(): Promise<Segment> {
    await this.#end();
    const { spool } = this.paths;
    await ensureDurableDir(path.dirname(spool));
    await ensureDurableDir(spool);
    const names = (await listNames(spool)).filter((name) => SEGMENT.test(name)).sort();
    const tooMany = Math.max(0, names.length - MAX_SEGMENTS + 1);
    for (const name of names.slice(0, tooMany)) await this.#giveUp(name);
    this.#number = Math.max(this.#number, Number(names.at(-1)?.slice(0, DIGITS) ?? 0)) + 1;
    const name = `${String(this.#number).padStart(DIGITS, '0')}.jsonl`;
    const handle = await open(path.join(spool, name), 'ax', 0o600);
    return (this.#current = { name, handle, sizeBytes: 0 });
  }

  async #end(): Promise<void> {
    const segment = this.#current;
    this.#current = null;
    await segment?.handle.close();
  }

  async #giveUp(name: string): Promise<void> {
    this.#log.warn('a channel is full: its oldest messages are given up', { ...this.about, file: name });
    await rm(path.join(this.paths.spool, name), { force: true });
  }
}

function toLine(message: unknown, attempt: AttemptKey | undefined): Buffer {
  const about = attempt && { attempt: { job_id: attempt.job_id, attempt: attempt.attempt } };
  const line = Buffer.from(`${JSON.stringify({ message, ...about })}\n`);
  if (line.length > MAX_LINE_BYTES) throw new TypeError('a message of a channel has at most 1 MiB of JSON');
  return line;
}
