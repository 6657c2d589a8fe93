import Database from 'better-sqlite3';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pointsFrom } from './points.js';

export interface RawFigures {
  readonly pointsPerSecond: number;
  readonly bytesPerPoint: number;
}

/** `idempotent`: (run_id, seq) is the primary key, as it must be for a batch that is sent again. */
export type RawTable = 'plain' | 'idempotent';

const KEYS: Record<RawTable, string> = { plain: '', idempotent: ', primary key (run_id, seq)' };

/**
 * Prepared inserts of the same rows as the ingest benchmark sends, straight into SQLite with the server's own settings, a transaction a batch.
 * No HTTP, no JSON, no other process: what the disk and the database alone can do.
 */
export function measureRawInserts(table: RawTable, points: number, batch: number): RawFigures {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-raw-'));
  const db = new Database(path.join(dir, 'raw.db'));
  try {
    for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) db.pragma(pragma);
    const columns = 'run_id text, name text, step integer, value real, ts integer, seq integer';
    db.exec(`create table points (${columns}${KEYS[table]})`);
    const insert = db.prepare('insert into points values (?, ?, ?, ?, ?, ?)');
    const insertAll = db.transaction((rows: ReturnType<typeof pointsFrom>) => {
      for (const { name, step, value, ts, seq } of rows) insert.run(RUN, name, step, value, ts, seq);
    });
    let tookMs = 0;
    for (let seq = 0; seq < points; seq += batch) {
      const rows = pointsFrom(seq, batch);
      const startedMs = performance.now();
      insertAll(rows);
      tookMs += performance.now() - startedMs;
    }
    db.pragma('wal_checkpoint(TRUNCATE)');
    return { pointsPerSecond: (points / tookMs) * 1000, bytesPerPoint: statSync(db.name).size / points };
  } finally {
    db.close();
    rmSync(dir, { recursive: true });
  }
}

const RUN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';
