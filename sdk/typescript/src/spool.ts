import type { SpoolRecord } from '@svc/contract';
import { SPOOL_END } from '@svc/contract/protocol';
import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { warnOnce } from './notices.js';
import type { Batch } from './records.js';

/** A line is read and sent as a whole: even with the longest names it must stay below the 1 MiB that the agent takes. */
const LINE_POINTS = 200;
/** A file that has been delivered is removed once the next one is begun. */
const FILE_BYTES = 16 * 1024 * 1024;

/**
 * What cannot be reported now is appended to files that the agent of this host delivers. Lines are handed to the operating system
 * before an append is over: they outlive the process, however it ends. They are not synced to the disk.
 */
export class Spool {
  #file: number | null = null;

  constructor(
    readonly dir: string,
    private readonly runId: string,
    private readonly maxBytes: number,
  ) {}

  /** Whether all of the batch is in the spool. If not, appending it again later doubles nothing. */
  append(batch: Batch): boolean {
    try {
      const lines = this.#toLines(batch);
      if (this.#sizeBytes() + lines.reduce((sum, line) => sum + line.length, 0) > this.maxBytes) {
        const message = `the spool ${this.dir} has reached ${this.maxBytes} bytes: the queue takes what follows, and drops the oldest when it is full`;
        warnOnce(`spool full ${this.dir}`, message);
        return false;
      }
      for (const line of lines) this.#write(line);
      return true;
    } catch (error) {
      warnOnce(`spool ${this.dir}`, `cannot write to the spool ${this.dir} (${(error as Error).message})`);
      return false;
    }
  }

  /** Nothing more comes into the present file: the agent removes it when it is delivered. */
  endFile(): void {
    if (this.#file === null) return;
    const file = this.#file;
    this.#file = null;
    try {
      writeWhole(file, Buffer.from(`${SPOOL_END}\n`));
    } catch {
      // The agent removes it at the end of the attempt.
    }
    closeSync(file);
  }

  #toLines(batch: Batch): Buffer[] {
    if (!Array.isArray(batch)) return [this.#toLine(toSpoolFields(batch))];
    const lines: Buffer[] = [];
    for (let first = 0; first < batch.length; first += LINE_POINTS)
      lines.push(this.#toLine({ kind: 'points', body: { points: batch.slice(first, first + LINE_POINTS) } }));
    return lines;
  }

  #toLine(fields: object): Buffer {
    return Buffer.from(`${JSON.stringify({ ...fields, run_id: this.runId } as SpoolRecord)}\n`);
  }

  #sizeBytes(): number {
    return readdirSync(this.dir).reduce((sum, name) => sum + sizeOf(path.join(this.dir, name)), 0);
  }

  #write(line: Buffer): void {
    if (this.#file === null) {
      const name = `${this.runId}-${process.pid}-${randomBytes(4).toString('hex')}.jsonl`;
      this.#file = openSync(path.join(this.dir, name), 'ax', 0o600);
    }
    writeWhole(this.#file, line);
    if (fstatSync(this.#file).size >= FILE_BYTES) this.endFile();
  }
}

function toSpoolFields(record: Exclude<Batch, unknown[]>): object {
  const { complete: _complete, ...fields } = record;
  if (fields.kind !== 'finish' && fields.kind !== 'metric') return fields;
  const { ts: _ts, ...untimed } = fields;
  return untimed;
}

/** The agent removes files meanwhile. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** All of the line or nothing of it: the agent takes whole lines alone, so a torn one may be cut off again. */
function writeWhole(file: number, line: Buffer): void {
  const start = fstatSync(file).size;
  try {
    for (let at = 0; at < line.length; at += writeSync(file, line, at));
  } catch (error) {
    ftruncateSync(file, start);
    throw error;
  }
}
