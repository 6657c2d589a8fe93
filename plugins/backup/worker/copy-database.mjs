// Copies an SQLite database while others write to it, and checks the copy. A thread of its own, so that the server's never waits for
// the disk. Plain JavaScript: a worker of a server that runs from source could not load TypeScript.
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

const PAGES_PER_STEP = 1000;
const LITTLE_PAGES = 1000;
const MAX_ROUNDS = 50;

const { from, to } = workerData;

try {
  await copyOneMoment();
  catchUp();
  parentPort.postMessage({ kind: 'copied' });
  parentPort.postMessage({ kind: 'checked', ...check() });
} catch ({ message, code }) {
  // An error of SQLite does not survive the way to another thread.
  parentPort.postMessage({ kind: 'failed', message, code });
}

/**
 * A page-copying backup begins again whenever another connection has written; not when the pages are those of a transaction that
 * reads: they are of the moment in which it began.
 */
async function copyOneMoment() {
  const source = new Database(from, { fileMustExist: true });
  try {
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    await source.backup(to, { progress: () => PAGES_PER_STEP });
  } finally {
    source.close();
  }
}

/**
 * Nothing written since that moment could go from the write-ahead log into the database. Here it does, while the server writes on: round
 * after round takes what came in during the one before, until that is little.
 */
function catchUp() {
  const source = new Database(from, { fileMustExist: true, timeout: 0 });
  try {
    let done = 0;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const [{ checkpointed }] = source.pragma('wal_checkpoint(PASSIVE)');
      if (checkpointed - done < LITTLE_PAGES) return;
      done = checkpointed;
    }
  } catch {
    // The server's own connection does it then, at once: the copy is as good.
  } finally {
    source.close();
  }
}

/** Makes the copy a single file. `migrations` is null when it is no database of ours. */
function check() {
  const copy = new Database(to, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    const problems = copy.pragma('integrity_check(10)').map((row) => row.integrity_check);
    return { problems: problems.filter((problem) => problem !== 'ok'), migrations: migrationsOf(copy) };
  } finally {
    copy.close();
  }
}

function migrationsOf(copy) {
  const table = copy.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'svc_migrations'");
  return table.get() ? copy.prepare('SELECT count(*) FROM svc_migrations').pluck().get() : null;
}
