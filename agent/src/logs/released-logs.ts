import { LOG_STREAMS } from '@svc/contract/protocol';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { listNames, unlessMissing } from '../core/durable-file.js';
import { RELEASED_FILE } from '../core/run-paths.js';
import { toHeldBytes } from './sparse-file.js';

/** The logs of an attempt that the server has all of. */
interface ReleasedLog {
  readonly dir: string;
  readonly releasedAt: number;
  readonly heldBytes: number;
}

/** The logs of released attempts: kept for people as long as there is room. */
export class ReleasedLogs {
  readonly #jobsDir: string;

  heldBytes = 0;

  constructor(jobsDir: string) {
    this.#jobsDir = jobsDir;
  }
  /** Counts what is there: earlier agents have left some, and others may have removed some. */
  async count(): Promise<void> {
    let counted = 0;
    for await (const { heldBytes } of this.#scan()) counted += heldBytes;
    this.heldBytes = counted;
  }

  async add(dir: string): Promise<void> {
    this.heldBytes += await heldIn(dir);
  }

  /** Empties logs, those released first first, until so much is free or nothing is left; resolves with what is free. */
  async free(wantedBytes: number): Promise<number> {
    if (this.heldBytes === 0 || wantedBytes <= 0) return 0;
    const logs: ReleasedLog[] = [];
    for await (const log of this.#scan()) logs.push(log);
    logs.sort((a, b) => a.releasedAt - b.releasedAt);
    this.heldBytes = logs.reduce((sum, log) => sum + log.heldBytes, 0);
    let freed = 0;
    for (const log of logs) {
      if (freed >= wantedBytes) break;
      for (const name of LOG_STREAMS) await emptyReleased(log.dir, name);
      this.heldBytes -= log.heldBytes;
      freed += log.heldBytes;
    }
    return freed;
  }

  async *#scan(): AsyncGenerator<ReleasedLog> {
    for (const job of await listNames(this.#jobsDir)) {
      const names = await listNames(path.join(this.#jobsDir, job));
      for (const name of names.filter((entry) => entry.startsWith('attempt-'))) {
        const dir = path.join(this.#jobsDir, job, name);
        const released = await statOf(dir, RELEASED_FILE);
        if (released === null) continue;
        const heldBytes = await heldIn(dir);
        if (heldBytes > 0) yield { dir, releasedAt: released.mtimeMs, heldBytes };
      }
    }
  }
}

async function heldIn(dir: string): Promise<number> {
  const files = await Promise.all([statOf(dir, 'stdout'), statOf(dir, 'stderr')]);
  return files.reduce((sum, file) => sum + (file === null ? 0 : toHeldBytes(file)), 0);
}

/** The directory may become another attempt's at any moment: so it is looked at with its file already open. */
async function emptyReleased(dir: string, name: string): Promise<void> {
  const file = await open(path.join(dir, name), 'r+').catch(unlessMissing);
  try {
    if (file !== null && (await statOf(dir, RELEASED_FILE)) !== null) await file.truncate(0);
  } finally {
    await file?.close();
  }
}

function statOf(dir: string, name: string) {
  return stat(path.join(dir, name)).catch(unlessMissing);
}
