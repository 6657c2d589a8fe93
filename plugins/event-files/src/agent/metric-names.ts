import { unlessMissing } from '@svc/agent/durable-file';
import { appendFile, readFile, truncate } from 'node:fs/promises';
import path from 'node:path';

/** The server takes no more metrics of a run. */
export const MAX_NAMES = 10_000;
/** In the directory of the attempt, one name a line. */
const FILE = 'event-files.names';
const NEW_LINE = 10;

/** The names of the metrics that the event files of one attempt give its run: the same ones after a restart of the agent. */
export class MetricNames {
  /** Those that are not in the file yet. */
  readonly #fresh = new Set<string>();

  private constructor(
    /** null: it cannot be read, so the names are known until the agent ends. */
    private readonly file: string | null,
    private readonly all: Set<string>,
    /** Bytes of whole lines. */
    private length: number,
    /** Part of a line may lie behind them. */
    private isTorn: boolean,
  ) {}

  /** `onUnreadable` is called with the error where the file is there and cannot be read: no names are known then. */
  static async open(dir: string, onUnreadable: (error: unknown) => void): Promise<MetricNames> {
    const file = path.join(dir, FILE);
    try {
      const bytes = (await readFile(file).catch(unlessMissing)) ?? Buffer.alloc(0);
      const length = bytes.lastIndexOf(NEW_LINE) + 1;
      const names = bytes.toString('utf8', 0, length).split('\n').slice(0, -1);
      return new MetricNames(file, new Set(names), length, length < bytes.length);
    } catch (error) {
      onUnreadable(error);
      return new MetricNames(null, new Set(), 0, false);
    }
  }

  /** Whether the run has that metric, or has room for it. */
  take(name: string): boolean {
    if (this.all.has(name)) return true;
    if (this.all.size >= MAX_NAMES) return false;
    this.all.add(name);
    this.#fresh.add(name);
    return true;
  }

  /** Must hold: it comes before the server has them. Otherwise the next agent would take others, for which the run has no room. */
  async save(): Promise<void> {
    if (this.#fresh.size === 0 || this.file === null) return;
    const lines = Buffer.from([...this.#fresh].map((name) => `${name}\n`).join(''));
    // A disk that became full took a part of them.
    if (this.isTorn) await truncate(this.file, this.length).catch(unlessMissing);
    this.isTorn = true;
    await appendFile(this.file, lines, { mode: 0o600 });
    this.isTorn = false;
    this.length += lines.length;
    this.#fresh.clear();
  }
}
