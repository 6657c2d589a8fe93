import { DispatchFailed, DownloadRefused, toReason, type AgentPluginContext } from '@svc/agent';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 5_000;
/** A way that damages what it brings may do so once; a file that is damaged where it lies comes damaged each time. */
const MAX_DAMAGED = 3;
const PARTIAL = '.partial';

type Around = Pick<AgentPluginContext, 'download' | 'log' | 'signal'>;

export interface CacheOptions {
  readonly maxBytes: number;
  readonly retryMs?: number;
}

/** A snapshot that is being fetched, for all attempts that wait for it. */
interface Fetching {
  readonly done: Promise<void>;
  /** Aborted when none waits any more. */
  readonly stopping: AbortController;
  waiting: number;
}

/** Snapshots that this host has fetched: `<state dir>/snapshot-cache/<sha256>.tar.gz`. */
export class SnapshotCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #retryMs: number;
  readonly #around: Around;
  /** Jobs that start together fetch the same tree once. */
  readonly #fetching = new Map<string, Fetching>();
  readonly #uses = new Map<string, number>();

  constructor(directory: string, { maxBytes, retryMs = RETRY_MS }: CacheOptions, around: Around) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#retryMs = retryMs;
    this.#around = around;
  }

  /** Gives `work` the file of the snapshot, fetched if need be, and keeps it until that has ended. */
  async use(sha256: string, signal: AbortSignal, work: (archive: string) => Promise<void>): Promise<void> {
    const archive = path.join(this.#directory, `${sha256}.tar.gz`);
    this.#uses.set(archive, this.#usesOf(archive) + 1);
    try {
      await this.#waitFor(sha256, archive, signal);
      await work(archive);
    } finally {
      this.#uses.set(archive, this.#usesOf(archive) - 1);
      await this.#evict();
    }
  }

  #usesOf(archive: string): number {
    return this.#uses.get(archive) ?? 0;
  }

  /** One of several that wait may be stopped; the others go on. */
  async #waitFor(sha256: string, archive: string, signal: AbortSignal): Promise<void> {
    const fetching = await this.#join(sha256, archive);
    try {
      await Promise.race([fetching.done, whenAborted(signal)]);
    } finally {
      fetching.waiting -= 1;
      if (fetching.waiting === 0) fetching.stopping.abort();
    }
  }

  /** The fetching of that snapshot, for one more that waits. */
  async #join(sha256: string, archive: string): Promise<Fetching> {
    let known = this.#fetching.get(sha256);
    while (known?.stopping.signal.aborted) {
      await known.done.catch(() => undefined);
      known = this.#fetching.get(sha256);
    }
    if (known !== undefined) {
      known.waiting += 1;
      return known;
    }
    const stopping = new AbortController();
    const signal = AbortSignal.any([this.#around.signal, stopping.signal]);
    const done = this.#ensure(sha256, archive, signal);
    const fetching = { done, stopping, waiting: 1 };
    this.#fetching.set(sha256, fetching);
    // When it is stopped, nobody waits for it.
    done.catch(() => undefined);
    return fetching;
  }

  async #ensure(sha256: string, archive: string, signal: AbortSignal): Promise<void> {
    try {
      if ((await hashOf(archive)) === sha256) return await utimes(archive, new Date(), new Date());
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await this.#download(sha256, `${archive}${PARTIAL}`, signal);
      await rename(`${archive}${PARTIAL}`, archive);
    } finally {
      this.#fetching.delete(sha256);
    }
  }

  /** Again and again until the server has answered: it may be restarted meanwhile. */
  async #download(sha256: string, file: string, signal: AbortSignal): Promise<void> {
    const { download, log } = this.#around;
    for (let damaged = 0; damaged < MAX_DAMAGED;) {
      try {
        const body = await download(`/snapshots/${sha256}`, signal);
        await pipeline(body, createWriteStream(file, { mode: 0o600 }), { signal });
        if ((await hashOf(file)) === sha256) return;
        damaged += 1;
        log.warn('a snapshot came damaged', { sha256, times: damaged });
      } catch (error) {
        if (signal.aborted) throw error;
        if (isFinal(error)) throw toFailure(toReason(error));
        log.warn('a snapshot cannot be fetched now; it is tried again', { sha256, reason: toReason(error) });
      }
      if (damaged < MAX_DAMAGED) await delay(this.#retryMs, undefined, { signal, ref: false });
    }
    throw toFailure(
      `snapshot ${sha256} came ${MAX_DAMAGED} times with another content than its SHA-256 names, so its file on the server is damaged: submit the job again with svc submit --upload, which uploads the files again`,
    );
  }

  /** Removes the oldest that nobody unpacks, and what an agent that died left of a download. Never rejects. */
  async #evict(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const files = await Promise.all(
      names.map(async (name) => {
        const file = path.join(this.#directory, name);
        const { size = 0, mtimeMs = 0 } = (await stat(file).catch(() => null)) ?? {};
        return { file, size, mtimeMs };
      }),
    );
    let kept = 0;
    for (const { file, size } of files.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
      kept += size;
      const isIdle = this.#usesOf(file.replace(PARTIAL, '')) === 0;
      if (isIdle && (kept > this.#maxBytes || file.endsWith(PARTIAL)))
        await rm(file, { force: true }).catch(() => undefined);
    }
  }
}

function toFailure(reason: string): DispatchFailed {
  return new DispatchFailed(`its source files cannot be fetched: ${reason}`);
}

/** The SHA-256 of a file; null: it cannot be read. */
export async function hashOf(file: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
    return hash.digest('hex');
  } catch {
    return null;
  }
}

/** The server has said no, and will say so again. A disk that takes nothing is told at once too. */
function isFinal(error: unknown): boolean {
  if (error instanceof DownloadRefused)
    return error.status >= 400 && error.status < 500 && error.status !== 429;
  return /^(ENOSPC|EDQUOT|EACCES|EROFS)$/.test((error as NodeJS.ErrnoException).code ?? '');
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const give = () => reject(new Error('it was stopped before its source tree was there'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
