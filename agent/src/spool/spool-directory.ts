import type { ChannelAck, ChannelFrame, SpoolAck, SpoolFrame } from '@svc/contract';
import { unlink } from 'node:fs/promises';
import path from 'node:path';
import { toBackoffMs } from '../core/backoff.js';
import { isMissing, listNames, loadJson, writeDurable } from '../core/durable-file.js';
import { toReason, type AgentLog, type LogFields } from '../core/log.js';
import type { RunPaths } from '../core/run-paths.js';
import { RefusedRecords, type Refusal } from './refused-records.js';
import { readPiece, type SpoolLine } from './spool-file.js';

const SPOOL_FILE = /^[\w.-]{1,240}\.jsonl$/;
/** Nothing of a training's: left alone, and not waited for. */
const NOT_OURS = new Set(['ELOOP', 'EACCES', 'EPERM', 'ENXIO']);
const MARKS_SAVED_EVERY_MS = 1000;

export type Shipment = SpoolFrame | ChannelFrame;
export type Delivery = SpoolAck | ChannelAck;

/** Whose directory it is. */
export interface SpoolOwner {
  readonly paths: Pick<RunPaths, 'spool' | 'spoolMarks' | 'refused'>;
  /** Tells it in the log. */
  readonly about: LogFields;
  toFrame(file: string, from: number, lines: SpoolLine[]): Shipment;
  /** Nobody writes to that file any more. */
  isComplete(file: string): boolean;
  /** False: the server does not take it. */
  isWanted(): boolean;
  /** Every line of the file before `mark` is delivered or refused. */
  onDelivered?(file: string, mark: number): void;
}

/** What all spool directories share. */
export interface SpoolTransport {
  /** Sends at a bearable rate. null: the connection was lost before the answer. */
  ship(frame: Shipment, sizeBytes: number): Promise<Delivery | null>;
  readonly log: AgentLog;
}

/** It could not be read, or not be stored: not before this time again, as `performance.now` tells it. */
interface Trouble {
  failures: number;
  notBefore: number;
}

interface SpoolFile extends Trouble {
  readonly name: string;
  /** Every line before it is delivered or refused. */
  mark: number;
  /** The mark stands in a line that is too long to be a record: what follows of it is passed over. */
  isWithinLine: boolean;
}

type Step = 'moved' | 'waits' | 'ignored';

/** Lines in the files of a directory, until all of them are delivered: of the processes of an attempt, or of a plugin. */
export class SpoolDirectory {
  readonly #owner: SpoolOwner;
  readonly #transport: SpoolTransport;
  readonly #onChange: (spool: SpoolDirectory) => void;

  /** Resolves when the attempt is over and nothing is left to deliver, or when it is closed. */
  readonly delivered: Promise<void>;
  #resolveDelivered = () => {};
  #final = false;
  #closed = false;
  #files: Map<string, SpoolFile> | null = null;
  readonly #trouble: Trouble = { failures: 0, notBefore: 0 };
  readonly #ignored = new Set<string>();
  readonly #refused: RefusedRecords;
  #marksSavedAt = -Infinity;
  #marksMoved = false;

  constructor(owner: SpoolOwner, transport: SpoolTransport, onChange: (spool: SpoolDirectory) => void) {
    this.#owner = owner;
    this.#transport = transport;
    this.#onChange = onChange;
    this.#refused = new RefusedRecords(owner.about, owner.paths.refused, transport.log);
    this.delivered = new Promise((resolve) => (this.#resolveDelivered = resolve));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Nobody writes to the directory any more. */
  finalize(): void {
    this.#final = true;
    this.#onChange(this);
  }

  close(): void {
    this.#closed = true;
    this.#resolveDelivered();
    this.#onChange(this);
  }

  /** Delivers at most one frame of each file, which it reads into `buffer` (MAX_LINE_BYTES). True when something was delivered, so that there may be more. */
  async step(buffer: Buffer): Promise<boolean> {
    if (!this.#owner.isWanted()) return false;
    const isFinal = this.#final;
    const files = await this.#list();
    if (files === null) return false;
    const steps: Step[] = [];
    for (const file of files) {
      if (this.#closed) break;
      const isComplete = isFinal || this.#owner.isComplete(file.name);
      steps.push(await this.#advance(file, isComplete, buffer));
    }
    await this.#saveMarks();
    if (isFinal && !steps.some((step) => step !== 'ignored')) this.#resolveDelivered();
    return steps.includes('moved');
  }

  /** null: what is there cannot be known now. */
  async #list(): Promise<SpoolFile[] | null> {
    const names = (await this.#readDir())?.filter(
      (name) => SPOOL_FILE.test(name) && !this.#ignored.has(name),
    );
    if (names === undefined) return null;
    if (names.length === 0) return [];
    const files = (this.#files ??= await this.#loadMarks());
    return names.map((name) => {
      const file = files.get(name) ?? newFile(name, 0);
      files.set(name, file);
      return file;
    });
  }

  async #readDir(): Promise<string[] | null> {
    if (performance.now() < this.#trouble.notBefore) return null;
    try {
      const names = await listNames(this.#owner.paths.spool);
      this.#trouble.failures = 0;
      return names.sort();
    } catch (error) {
      this.#complain('the spool directory cannot be read', error);
      this.#putOff(this.#trouble);
      return null;
    }
  }

  async #advance(file: SpoolFile, isFinal: boolean, buffer: Buffer): Promise<Step> {
    if (performance.now() < file.notBefore) return 'waits';
    try {
      return await this.#deliver(file, isFinal, buffer);
    } catch (error) {
      return this.#leave(file, error);
    }
  }

  async #deliver(file: SpoolFile, isFinal: boolean, buffer: Buffer): Promise<Step> {
    const piece = await readPiece(this.#pathOf(file), file.mark, buffer, file.isWithinLine);
    if (piece.kind === 'lines') return this.#ship(file, piece.lines);
    if (piece.kind === 'too long') return this.#giveUpLine(file, piece.to);
    if (piece.kind === 'rest of long line') {
      file.isWithinLine = !piece.isEnd;
      return this.#move(file, piece.to);
    }
    if (piece.kind === 'rest' && !isFinal) return 'waits';
    if (piece.kind === 'rest' && piece.sizeBytes > 0) this.#tellTorn(file, piece.sizeBytes);
    await unlink(this.#pathOf(file));
    this.#files?.delete(file.name);
    this.#refused.close(file.name);
    return 'moved';
  }

  /** The server is sent an empty line in its place, so that it tells of it as of every other that it refuses. */
  async #giveUpLine(file: SpoolFile, to: number): Promise<Step> {
    const step = await this.#ship(file, [{ to, text: '' }]);
    file.isWithinLine = step === 'moved';
    return step;
  }

  async #ship(file: SpoolFile, lines: readonly SpoolLine[]): Promise<Step> {
    const last = (lines.at(-1) as SpoolLine).to;
    const { name, mark: from } = file;
    const ack = await this.#transport.ship(this.#owner.toFrame(name, from, [...lines]), last - from);
    if (ack === null) return 'waits';
    // Must hold: they are kept before the mark moves past them.
    await this.#refused.keep(name, toRefusals(lines, ack));
    const hasMoved = ack.offset > from && lines.some(({ to }) => to === ack.offset);
    if (ack.offset === last) file.failures = 0;
    else this.#putOff(file);
    return hasMoved ? this.#move(file, ack.offset) : 'waits';
  }

  #move(file: SpoolFile, to: number): Step {
    file.mark = to;
    this.#marksMoved = true;
    this.#owner.onDelivered?.(file.name, to);
    return 'moved';
  }

  #putOff(trouble: Trouble): void {
    trouble.failures += 1;
    trouble.notBefore = performance.now() + toBackoffMs(trouble.failures, Math.random());
  }

  /** What a process that was killed while it wrote has left. */
  #tellTorn(file: SpoolFile, sizeBytes: number): void {
    this.#transport.log.warn('the torn last line of a spool file is discarded', {
      ...this.#owner.about,
      file: file.name,
      size_bytes: sizeBytes,
    });
  }

  #leave(file: SpoolFile, error: unknown): Step {
    if (isMissing(error)) {
      this.#files?.delete(file.name);
      return 'ignored';
    }
    this.#complain(`${file.name} cannot be read`, error);
    if (error instanceof TypeError || NOT_OURS.has((error as NodeJS.ErrnoException).code ?? '')) {
      this.#ignored.add(file.name);
      return 'ignored';
    }
    this.#putOff(file);
    return 'waits';
  }

  async #loadMarks(): Promise<Map<string, SpoolFile>> {
    const marks = (await loadJson<Record<string, number>>(this.#owner.paths.spoolMarks)) ?? {};
    return new Map(Object.entries(marks).map(([name, mark]) => [name, newFile(name, mark)]));
  }

  /** An older mark costs a repetition, so once a second is enough. */
  async #saveMarks(): Promise<void> {
    const now = performance.now();
    if (!this.#marksMoved || now - this.#marksSavedAt < MARKS_SAVED_EVERY_MS) return;
    this.#marksMoved = false;
    this.#marksSavedAt = now;
    const files = [...(this.#files ?? new Map<string, SpoolFile>()).values()];
    const marks = Object.fromEntries(files.map(({ name, mark }) => [name, mark]));
    await writeDurable(this.#owner.paths.spoolMarks, marks).catch((error: unknown) =>
      this.#complain('cannot note how far the spool is delivered', error),
    );
  }

  #pathOf({ name }: SpoolFile): string {
    return path.join(this.#owner.paths.spool, name);
  }

  #complain(message: string, error: unknown): void {
    this.#transport.log.warn(message, { ...this.#owner.about, reason: toReason(error) });
  }
}

function newFile(name: string, mark: number): SpoolFile {
  return { name, mark, isWithinLine: false, failures: 0, notBefore: 0 };
}

function toRefusals(lines: readonly SpoolLine[], { refused }: Delivery): Refusal[] {
  const reasons = new Map(refused.map(({ to, reason }) => [to, reason]));
  return lines.flatMap((line) => {
    const reason = reasons.get(line.to);
    return reason === undefined ? [] : [{ ...line, reason }];
  });
}
