import type { AttemptKey } from '@svc/contract';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AttemptLog } from './attempt-log.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { LogFile } from './log-file.js';

const MEMORY_BYTES = 64 * 1024 * 1024;
const MAX_LOGS = 1000;
const MAX_WRITES_AT_ONCE = 64;

interface Entry {
  readonly opening: Promise<AttemptLog>;
  log: AttemptLog | null;
  /** A log in use is not evicted from memory. */
  users: number;
}

/** The logs of all attempts, under one directory; the most recently used ones stay in memory. */
export class LogStore {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #writeLimit = new ConcurrencyLimit(MAX_WRITES_AT_ONCE);

  constructor(private readonly directory: string) {}

  /**
   * Runs `use` with the log of the attempt; while it runs, there is no other AttemptLog of that attempt. `jobId` must be in canonical form,
   * as it becomes part of a path.
   */
  async with<T>(jobId: string, attempt: number, use: (log: AttemptLog) => Promise<T>): Promise<T> {
    const entry = this.#enter(jobId, attempt);
    try {
      return await use(await entry.opening);
    } finally {
      entry.users -= 1;
      this.#evictOldest();
    }
  }

  /** The path of the file that is not compressed. */
  pathOf(jobId: string, attempt: number): string {
    return join(this.directory, jobId, `attempt-${attempt}.ndjson`);
  }

  /** Readers of the job's logs check again whether their attempt is over. */
  jobChanged(jobId: string): void {
    for (const { log } of this.#entries.values()) if (log?.jobId === jobId) log.jobChanged();
  }

  /** Readers of the log look again at what is shown of it. */
  wake({ job_id, attempt }: AttemptKey): void {
    this.#entries.get(`${job_id}/${attempt}`)?.log?.wake();
  }

  /** Attempts whose file is not compressed. */
  async *uncompressed(): AsyncGenerator<AttemptKey> {
    for (const job_id of await list(this.directory)) {
      for (const name of await list(join(this.directory, job_id))) {
        const attempt = /^attempt-(\d+)\.ndjson$/.exec(name)?.[1];
        if (attempt) yield { job_id, attempt: Number(attempt) };
      }
    }
  }

  async settled(): Promise<void> {
    for (const { log } of this.#entries.values()) await log?.settled();
  }

  #enter(jobId: string, attempt: number): Entry {
    const key = `${jobId}/${attempt}`;
    const entry = this.#entries.get(key) ?? this.#load(key, jobId, attempt);
    entry.users += 1;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  #load(key: string, jobId: string, attempt: number): Entry {
    const file = new LogFile(this.pathOf(jobId, attempt), this.#writeLimit);
    const entry: Entry = { opening: AttemptLog.load(jobId, attempt, file), log: null, users: 0 };
    entry.opening.then(
      (log) => (entry.log = log),
      () => this.#entries.delete(key),
    );
    return entry;
  }

  #evictOldest(): void {
    let memoryBytes = 0;
    for (const { log } of this.#entries.values()) memoryBytes += log?.memoryBytes ?? 0;
    for (const [key, { log, users }] of this.#entries) {
      if (memoryBytes <= MEMORY_BYTES && this.#entries.size <= MAX_LOGS) return;
      if (users > 0 || !log) continue;
      memoryBytes -= log.memoryBytes;
      this.#entries.delete(key);
    }
  }
}

/** Empty for a directory that does not exist. */
async function list(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
