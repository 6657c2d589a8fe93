import { DispatchFailed, DownloadRefused, toReason, type AgentPluginContext } from '@svc/agent';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 5_000;
const PARTIAL = '.partial';

type Around = Pick<AgentPluginContext, 'download' | 'log' | 'signal'>;

/** Snapshots that this host has fetched: `<state dir>/snapshot-cache/<sha256>.tar.gz`. */
export class SnapshotCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #around: Around;
  /** Jobs that start together fetch the same tree once. */
  readonly #fetching = new Map<string, Promise<void>>();
  readonly #uses = new Map<string, number>();

  constructor(directory: string, maxBytes: number, around: Around) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#around = around;
  }

  /** Gives `work` the file of the snapshot, fetched if need be, and keeps it until that has ended. */
  async use(sha256: string, signal: AbortSignal, work: (archive: string) => Promise<void>): Promise<void> {
    const archive = path.join(this.#directory, `${sha256}.tar.gz`);
    this.#uses.set(archive, this.#usesOf(archive) + 1);
    try {
      const ready = this.#fetching.get(sha256) ?? this.#ensure(sha256, archive);
      this.#fetching.set(sha256, ready);
      // One of several that wait may be stopped; the others go on.
      await Promise.race([ready, whenAborted(signal)]);
      await work(archive);
    } finally {
      this.#uses.set(archive, this.#usesOf(archive) - 1);
      await this.#evict();
    }
  }

  #usesOf(archive: string): number {
    return this.#uses.get(archive) ?? 0;
  }

  async #ensure(sha256: string, archive: string): Promise<void> {
    try {
      if ((await hashOf(archive)) === sha256) return await utimes(archive, new Date(), new Date());
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await this.#download(sha256, `${archive}${PARTIAL}`);
      await rename(`${archive}${PARTIAL}`, archive);
    } finally {
      this.#fetching.delete(sha256);
    }
  }

  /** Again and again until the server has answered: it may be restarted meanwhile. */
  async #download(sha256: string, file: string): Promise<void> {
    const { download, log, signal } = this.#around;
    for (;;) {
      try {
        const body = await download(`/snapshots/${sha256}`, signal);
        await pipeline(body, createWriteStream(file, { mode: 0o600 }), { signal });
        if ((await hashOf(file)) === sha256) return;
        throw new Error('what came is not what was asked for');
      } catch (error) {
        if (signal.aborted) throw error;
        if (isFinal(error))
          throw new DispatchFailed(`its source files cannot be fetched: ${toReason(error)}`);
        log.warn('a snapshot cannot be fetched now; it is tried again', { sha256, reason: toReason(error) });
        await delay(RETRY_MS, undefined, { signal, ref: false });
      }
    }
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

/** null: it cannot be read. */
async function hashOf(file: string): Promise<string | null> {
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
