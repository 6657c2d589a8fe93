import { withRawSqlite, type Db } from '@svc/kernel';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const WORKER = fileURLToPath(new URL('../worker/copy-database.mjs', import.meta.url));

type Message =
  | { readonly kind: 'copied' }
  | ({ readonly kind: 'checked' } & CheckedCopy)
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string };

export interface CheckedCopy {
  /** What SQLite's integrity check has found. */
  readonly problems: readonly string[];
  /** How many the database has; null: it is none of ours. */
  readonly migrations: number | null;
}

export interface CopyOrder {
  /** An SQLite file; others may write to it meanwhile. */
  readonly from: string;
  /** A file that does not exist yet. */
  readonly to: string;
  /** The server's own connection to `from`, when there is a server. */
  readonly db?: Db | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies the database as it is at one moment, everything committed before the call included, and checks the copy. Rejects with the
 * error of SQLite, or when `signal` aborts.
 */
export async function copyDatabase({ from, to, db, signal }: CopyOrder): Promise<CheckedCopy> {
  signal?.throwIfAborted();
  const resume = db ? await pauseCheckpoints(db) : () => Promise.resolve();
  const worker = new Worker(WORKER, { workerData: { from, to }, execArgv: [] });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop);
  try {
    return await new Promise<CheckedCopy>((resolve, reject) => {
      worker.on('message', (message: Message) => {
        if (message.kind === 'copied') void resume();
        else if (message.kind === 'checked') resolve(message);
        else reject(toError(message));
      });
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the copying of the database was stopped')));
    });
  } finally {
    signal?.removeEventListener('abort', stop);
    await resume();
    await worker.terminate();
  }
}

function toError({ message, code }: { readonly message: string; readonly code?: string }): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * While the copy reads one moment, what is written since gathers in the write-ahead log. The server's connection would bring all of it
 * into the database within one commit, and stand still for that.
 */
async function pauseCheckpoints(db: Db): Promise<() => Promise<void>> {
  const before = await withRawSqlite(db, (connection) => {
    const pages = connection.pragma('wal_autocheckpoint', { simple: true }) as number;
    connection.pragma('wal_autocheckpoint = 0');
    return pages;
  });
  let resumed: Promise<void> | null = null;
  return () => (resumed ??= resumeCheckpoints(db, before));
}

/** Waits for the connection however long others hold it: without checkpoints the log would grow until the next start. */
async function resumeCheckpoints(db: Db, pages: number): Promise<void> {
  try {
    await withRawSqlite(db, (connection) => connection.pragma(`wal_autocheckpoint = ${pages}`));
  } catch (error) {
    if ((error as Error).name === 'KnexTimeoutError') return resumeCheckpoints(db, pages);
    // The database is closed, and the setting gone with its connection.
  }
}
