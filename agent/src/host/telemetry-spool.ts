import { MAX_FRAME_SAMPLES } from '@svc/contract/protocol';
import { appendFile, mkdir, readFile, stat, truncate, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Measured } from '../core/collector.js';
import { listNames, unlessMissing } from '../core/durable-file.js';
import { toReason, type AgentLog } from '../core/log.js';

/** A day of a host with 8 GPUs takes half of it. */
const MAX_BYTES = 32 * 1024 * 1024;
const SEGMENT = /^(\d{10})\.jsonl$/;

export interface Sample {
  readonly ts: number;
  readonly measured: Measured;
}

/** What fits into one frame. */
export interface Segment {
  readonly number: number;
  readonly samples: readonly Sample[];
}

/** The segment that grows. */
interface Growing {
  readonly number: number;
  readonly names: readonly string[];
  count: number;
}

/**
 * Samples that wait on the disk for the server, in files of at most a frame each: a line with the names, then one with the time
 * and the values for each sample. When it is full the oldest are given up. A disk that takes nothing is said once, and costs
 * nothing but the samples. Nothing is synced: after a loss of power lines that are not whole are passed over.
 */
export class TelemetrySpool {
  readonly #dir: string;
  readonly #log: AgentLog;
  readonly #maxBytes: number;

  /** Sizes by number, oldest first; null until the directory is read. */
  #sizes: Map<number, number> | null = null;
  #growing: Growing | null = null;
  /** No number is used again: a segment that cannot be read stays under its own. */
  #lastNumber = 0;
  #work: Promise<unknown> = Promise.resolve();
  #complaint: string | null = null;
  #fullSaid = false;

  constructor(dir: string, log: AgentLog, maxBytes = MAX_BYTES) {
    this.#dir = dir;
    this.#log = log;
    this.#maxBytes = maxBytes;
  }
  /** False when the disk does not take all of them: some may be there then. */
  append(samples: readonly Sample[]): Promise<boolean> {
    return this.#inTurn(async (sizes) => {
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await this.#write(samples, sizes);
      await this.#keepBounds(sizes);
      this.#complaint = null;
      return true;
    }, false);
  }

  /** The oldest segment, which grows no more; null when there is none. */
  oldest(): Promise<Segment | null> {
    return this.#inTurn(async (sizes) => {
      for (const number of [...sizes.keys()]) {
        if (number === this.#growing?.number) this.#growing = null;
        const samples = await this.#read(number);
        if (samples !== null && samples.length > 0) return { number, samples };
        if (samples === null) sizes.delete(number);
        else await this.#remove(number, sizes);
      }
      this.#fullSaid = false;
      return null;
    }, null);
  }

  /** The server has it. */
  remove(number: number): Promise<void> {
    return this.#inTurn((sizes) => this.#remove(number, sizes), undefined);
  }

  #inTurn<T, E>(task: (sizes: Map<number, number>) => Promise<T>, otherwise: E): Promise<T | E> {
    const turn = this.#work.then(async () => {
      try {
        return await task((this.#sizes ??= await this.#list()));
      } catch (error) {
        this.#complain(error);
        return otherwise;
      }
    });
    this.#work = turn;
    return turn;
  }

  async #list(): Promise<Map<number, number>> {
    const sizes = new Map<number, number>();
    for (const name of (await listNames(this.#dir)).sort()) {
      const number = SEGMENT.exec(name)?.[1];
      if (number === undefined) continue;
      sizes.set(Number(number), (await stat(path.join(this.#dir, name))).size);
      this.#lastNumber = Math.max(this.#lastNumber, Number(number));
    }
    return sizes;
  }

  async #write(samples: readonly Sample[], sizes: Map<number, number>): Promise<void> {
    let rest = samples;
    while (rest.length > 0) {
      const into = this.#into(rest);
      const part = rest.slice(0, MAX_FRAME_SAMPLES - into.count);
      await this.#appendLines(into, part, sizes);
      if (into.count === MAX_FRAME_SAMPLES) this.#growing = null;
      rest = rest.slice(part.length);
    }
  }

  /** The growing segment, when it has all of their names. */
  #into(samples: readonly Sample[]): Growing {
    const names = new Set(samples.flatMap(({ measured }) => Object.keys(measured)));
    const known = this.#growing?.names ?? [];
    if (this.#growing !== null && [...names].every((name) => known.includes(name))) return this.#growing;
    const number = (this.#lastNumber += 1);
    return (this.#growing = { number, names: [...new Set([...known, ...names])], count: 0 });
  }

  async #appendLines(into: Growing, samples: readonly Sample[], sizes: Map<number, number>): Promise<void> {
    const file = this.#pathOf(into.number);
    const sizeBytes = sizes.get(into.number) ?? 0;
    const rows = samples.map(({ ts, measured }) => [ts, ...into.names.map((name) => measured[name] ?? null)]);
    const text = [...(into.count === 0 ? [into.names] : []), ...rows].map(
      (row) => `${JSON.stringify(row)}\n`,
    );
    const bytes = Buffer.from(text.join(''));
    try {
      await appendFile(file, bytes, { mode: 0o600 });
    } catch (error) {
      this.#growing = null;
      // What the disk took of it would be there twice when it is written again.
      await (sizeBytes === 0 ? unlink(file) : truncate(file, sizeBytes)).catch(() => {});
      throw error;
    }
    into.count += samples.length;
    sizes.set(into.number, sizeBytes + bytes.length);
  }

  async #keepBounds(sizes: Map<number, number>): Promise<void> {
    const totalBytes = () => [...sizes.values()].reduce((sum, sizeBytes) => sum + sizeBytes, 0);
    for (const number of [...sizes.keys()]) {
      if (totalBytes() <= this.#maxBytes || number === this.#growing?.number) return;
      if (!this.#fullSaid) this.#log.warn('the spool of node metrics is full: its oldest are given up');
      this.#fullSaid = true;
      await this.#remove(number, sizes);
    }
  }

  /** null: it cannot be read. It is passed over, and stays for the next agent. */
  async #read(number: number): Promise<Sample[] | null> {
    try {
      return parseSegment(await readFile(this.#pathOf(number), 'utf8').catch(unlessMissing));
    } catch (error) {
      const about = { file: this.#pathOf(number), reason: toReason(error) };
      this.#log.warn('node metrics on the disk cannot be read', about);
      return null;
    }
  }

  async #remove(number: number, sizes: Map<number, number>): Promise<void> {
    sizes.delete(number);
    await unlink(this.#pathOf(number)).catch(unlessMissing);
  }

  #pathOf(number: number): string {
    return path.join(this.#dir, `${String(number).padStart(10, '0')}.jsonl`);
  }

  /** Each reason once, until something was written. */
  #complain(error: unknown): void {
    const reason = toReason(error);
    if (reason !== this.#complaint)
      this.#log.warn('node metrics cannot be spooled: what does not fit into memory is given up', { reason });
    this.#complaint = reason;
  }
}

function parseSegment(text: string | null): Sample[] {
  const [head = '', ...lines] = (text ?? '').split('\n');
  const names = parseRow(head);
  const samples: Sample[] = [];
  for (const line of lines) {
    const sample = toSample(names, parseRow(line));
    if (sample !== null && sample.ts > (samples.at(-1)?.ts ?? -1)) samples.push(sample);
  }
  return samples.slice(0, MAX_FRAME_SAMPLES);
}

function toSample(names: readonly unknown[], [ts, ...values]: readonly unknown[]): Sample | null {
  if (!Number.isSafeInteger(ts) || values.length !== names.length) return null;
  const measured = names.flatMap((name, index) => {
    const value = values[index];
    return typeof name === 'string' && typeof value === 'number' ? [[name, value] as const] : [];
  });
  return { ts: ts as number, measured: Object.fromEntries(measured) };
}

function parseRow(line: string): readonly unknown[] {
  try {
    const row: unknown = JSON.parse(line);
    return Array.isArray(row) ? row : [];
  } catch {
    return [];
  }
}
