import type { AttemptKey } from '@svc/contract';
import { fromJson, toJson, type Db } from '@svc/kernel';
import type { KeptLinesRecord } from './kept-lines.js';

interface FailureLogRow extends AttemptKey {
  readonly lines: string;
}

export async function loadKeptLines(
  db: Db,
  { job_id, attempt }: AttemptKey,
): Promise<KeptLinesRecord | null> {
  const row = await db<FailureLogRow>('failure_logs').where({ job_id, attempt }).first();
  return row ? fromJson<KeptLinesRecord>(row.lines) : null;
}

export async function saveKeptLines(
  db: Db,
  { job_id, attempt }: AttemptKey,
  kept: KeptLinesRecord,
): Promise<void> {
  await db<FailureLogRow>('failure_logs')
    .insert({ job_id, attempt, lines: toJson(kept) })
    .onConflict(['job_id', 'attempt'])
    .merge();
}
