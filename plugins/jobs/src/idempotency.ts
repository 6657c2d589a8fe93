import { fail, type Caller, type Db } from '@svc/kernel';
import { createHash } from 'node:crypto';

const KEPT_MS = 24 * 60 * 60_000;

interface IdempotencyRow {
  token_id: string;
  route: string;
  key: string;
  body_hash: string;
  job_id: string;
  created_at: number;
}

/** One caller's key for one kind of request, and what it asked for. */
export interface IdempotencyKey {
  readonly caller: Caller;
  readonly route: string;
  readonly key: string;
  readonly body: unknown;
}

/** The job that was created with the key within the last 24 h; null when the key is new. Throws conflict when the body differs. */
export async function findRepeated(db: Db, key: IdempotencyKey, at: number): Promise<string | null> {
  const row = await db<IdempotencyRow>('idempotency_keys').where(whereOf(key)).first();
  if (!row || row.created_at <= at - KEPT_MS) return null;
  if (row.body_hash !== hashOf(key.body)) {
    fail('conflict', 'this Idempotency-Key was used with another body; take a new key for a new request', {
      idempotency_key: key.key,
    });
  }
  return row.job_id;
}

/** To be called in the transaction that stores the job. A second request with the same key violates the primary key. */
export async function rememberKey(db: Db, key: IdempotencyKey, jobId: string, at: number): Promise<void> {
  const where = whereOf(key);
  await db<IdempotencyRow>('idempotency_keys')
    .where(where)
    .where('created_at', '<=', at - KEPT_MS)
    .delete();
  await db<IdempotencyRow>('idempotency_keys').insert({
    ...where,
    body_hash: hashOf(key.body),
    job_id: jobId,
    created_at: at,
  });
}

export async function deleteOldKeys(db: Db, at: number): Promise<void> {
  await db<IdempotencyRow>('idempotency_keys')
    .where('created_at', '<=', at - KEPT_MS)
    .delete();
}

function whereOf({ caller, route, key }: IdempotencyKey) {
  return { token_id: caller.token_id, route, key };
}

function hashOf(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(body)))
    .digest('hex');
}

/** Sorts the keys of objects, whose order has no meaning. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, canonical(item)]));
}
