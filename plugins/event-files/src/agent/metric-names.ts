import { unlessMissing } from '@svc/agent/durable-file';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The server takes no more metrics of a run. */
export const MAX_NAMES = 10_000;
/** In the directory of the attempt, one name a line. */
const FILE = 'event-files.names';

/** The names of the metrics that the event files of one attempt give its run: the same ones after a restart of the agent. */
export class MetricNames {
  /** Those that are not in the file yet. */
  readonly #fresh = new Set<string>();

  private constructor(
    private readonly file: string,
    private readonly all: Set<string>,
  ) {}

  static async open(dir: string): Promise<MetricNames> {
    const file = path.join(dir, FILE);
    const lines = ((await readFile(file, 'utf8').catch(unlessMissing)) ?? '').split('\n');
    // The last line is empty, or torn.
    return new MetricNames(file, new Set(lines.slice(0, -1)));
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
    if (this.#fresh.size === 0) return;
    await appendFile(this.file, [...this.#fresh].map((name) => `${name}\n`).join(''), { mode: 0o600 });
    this.#fresh.clear();
  }
}
