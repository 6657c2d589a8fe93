import { appendFile, stat } from 'node:fs/promises';
import { toReason, type AgentLog, type LogFields } from '../core/log.js';
import type { SpoolLine } from './spool-file.js';

const MAX_BYTES = 16 * 1024 * 1024;

export type Refusal = SpoolLine & { readonly reason: string };

/** What the server refused of a spool, in a file beside it for people to look at. */
export class RefusedRecords {
  readonly #about: LogFields;
  readonly #path: string;
  readonly #log: AgentLog;

  /** By spool file. */
  readonly #counts = new Map<string, number>();
  /** Of the file; null before it was looked at. */
  #sizeBytes: number | null = null;

  constructor(about: LogFields, path: string, log: AgentLog) {
    this.#about = about;
    this.#path = path;
    this.#log = log;
  }
  /**
   * Tells of the first of a spool file. Must hold: they are synced before the mark moves past them. A disk that does not take
   * them holds up nothing.
   */
  async keep(file: string, refusals: readonly Refusal[]): Promise<void> {
    const entries: string[] = [];
    for (const { to, text, reason } of refusals) {
      const count = (this.#counts.get(file) ?? 0) + 1;
      this.#counts.set(file, count);
      if (count === 1) this.#log.warn('a spooled record was refused', { ...this.#about, file, to, reason });
      entries.push(`${JSON.stringify({ file, to, reason, line: text })}\n`);
    }
    await this.#append(entries);
  }

  /** The spool file is delivered. */
  close(file: string): void {
    const refused = this.#counts.get(file) ?? 0;
    this.#counts.delete(file);
    if (refused > 1)
      this.#log.warn('records of a spool file were refused', { ...this.#about, file, refused });
  }

  /** As many as there is room for. */
  async #append(entries: readonly string[]): Promise<void> {
    this.#sizeBytes ??= await sizeOf(this.#path);
    let text = '';
    for (const entry of entries) {
      const sizeBytes = Buffer.byteLength(entry);
      if (this.#sizeBytes + sizeBytes > MAX_BYTES) continue;
      this.#sizeBytes += sizeBytes;
      text += entry;
    }
    if (text === '') return;
    await appendFile(this.#path, text, { mode: 0o600, flush: true }).catch((error: unknown) =>
      this.#log.warn('refused records cannot be kept', { ...this.#about, reason: toReason(error) }),
    );
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
