import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { workingDir } from './host-path.js';
import { warnOnce } from './notices.js';
import type { Batch, SdkRecord } from './records.js';

const FORMAT = 'svc-offline/1';

/**
 * The folder `./svc-offline/<run>/`: JSON lines in the shape of the requests they stand for. Made when first written to. Never throws: a
 * disk that takes nothing is warned about once.
 */
export class OfflineFolder {
  readonly path: string;
  #metadata: Record<string, unknown>;
  #hasMetadata = false;

  constructor(label: string, metadata: Record<string, unknown>) {
    const name = label.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '') || 'run';
    this.path = path.resolve(workingDir(), 'svc-offline', name);
    this.#metadata = { format: FORMAT, ...metadata };
  }

  /** Answers where the batch lies. */
  keep(batch: Batch): string {
    if (Array.isArray(batch)) this.#append('points.jsonl', batch);
    else this.#keepRecord(batch);
    return this.path;
  }

  saveMetadata(changes: Record<string, unknown> = {}): void {
    this.#hasMetadata = true;
    Object.assign(this.#metadata, changes);
    this.#attempt(() => {
      mkdirSync(this.path, { recursive: true });
      const file = path.join(this.path, 'metadata.json');
      const draft = `${file}.${process.pid}.partial`;
      writeFileSync(draft, JSON.stringify({ ...readObject(file), ...this.#metadata }, null, 2));
      renameSync(draft, file);
    });
  }

  #keepRecord(record: SdkRecord): void {
    if (record.kind === 'update') {
      // The metadata has from the start what the training asks to be filled in.
      const { fill: _fill, ...changes } = record.body;
      this.saveMetadata(changes);
    } else if (record.kind === 'metric')
      this.#append('metrics.jsonl', [{ name: record.name, ...record.body, ts: record.ts }]);
    else if (record.kind === 'finish')
      this.saveMetadata({ status: record.body.status, finished_at: record.ts });
    else
      this.#append(record.kind === 'event' ? 'events.jsonl' : 'checkpoints.jsonl', [
        { ...record.body, ts: record.ts },
      ]);
  }

  #append(name: string, lines: readonly object[]): void {
    if (!this.#hasMetadata) this.saveMetadata();
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    this.#attempt(() => appendFileSync(path.join(this.path, name), text));
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      const reason = (error as Error).message;
      warnOnce(`disk ${this.path}`, `cannot write to ${this.path} (${reason}); what belongs there is lost`);
    }
  }
}

/** A folder name for a run that no server knows: readable, sorted by time, and its own. */
export function newLabel(name: string | null): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return `${(name ?? 'run').slice(0, 60)}-${time}-${randomBytes(3).toString('hex')}`;
}

function readObject(file: string): object {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object;
  } catch {
    return {};
  }
}
