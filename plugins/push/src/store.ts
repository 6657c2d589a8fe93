import { newId, type Delivery, type DeliveryStatus, type EventRecord } from '@svc/contract';
import { newestRows, type Db, type Listed, type Page } from '@svc/kernel';

const SLICE_ROWS = 1000;

export interface DeliveryFilter {
  readonly target?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event_id?: string | undefined;
}

export async function loadCursor(db: Db, target: string): Promise<number | null> {
  const row = await db<{ target: string; position: number }>('push_cursors').where({ target }).first();
  return row?.position ?? null;
}

export async function storeCursor(db: Db, target: string, position: number): Promise<void> {
  await db('push_cursors').insert({ target, position }).onConflict('target').merge(['position']);
}

/** They are due at once. An event that the target has a delivery for is left out. */
export async function insertDeliveries(
  db: Db,
  target: string,
  events: readonly EventRecord[],
  at: number,
): Promise<void> {
  if (events.length === 0) return;
  const rows: Delivery[] = events.map(({ id }) => ({
    id: newId('delivery', at),
    event_id: id,
    target,
    status: 'PENDING',
    tries: 0,
    last_error: null,
    created_at: at,
    next_try_at: at,
    finished_at: null,
  }));
  await deliveries(db).insert(rows).onConflict(['event_id', 'target']).ignore();
}

export async function countPending(db: Db, target: string): Promise<number> {
  const row = await deliveries(db).where({ target, status: 'PENDING' }).count({ count: '*' }).first();
  return Number(row?.['count'] ?? 0);
}

/** Those that have waited longest come first. */
export function listDue(db: Db, target: string, at: number, limit: number): Promise<Delivery[]> {
  return deliveries(db)
    .where({ target, status: 'PENDING' })
    .where('next_try_at', '<=', at)
    .orderBy(['next_try_at', 'id'])
    .limit(limit);
}

/** When the next try of that target is due; null when nothing is pending. */
export async function nextDueAt(db: Db, target: string): Promise<number | null> {
  const row = await deliveries(db).where({ target, status: 'PENDING' }).min({ at: 'next_try_at' }).first();
  const at: unknown = row?.['at'] ?? null;
  return at === null ? null : Number(at);
}

type Outcome = Pick<Delivery, 'status' | 'tries' | 'last_error' | 'next_try_at' | 'finished_at'>;

export async function storeOutcome(db: Db, id: string, outcome: Outcome): Promise<void> {
  await deliveries(db).where({ id }).update(outcome);
}

/** Ends what is pending for targets that are no longer told at least once, and forgets how far they were. */
export async function endOthers(db: Db, targets: readonly string[], at: number): Promise<void> {
  await deliveries(db)
    .where({ status: 'PENDING' })
    .whereNotIn('target', [...targets])
    .update({
      status: 'FAILED',
      next_try_at: null,
      finished_at: at,
      last_error: 'the configuration has no such target with at-least-once any more',
    });
  await db('push_cursors')
    .whereNotIn('target', [...targets])
    .delete();
}

/** Removes what was finished before that time, and all but the newest `most` of what is finished. */
export async function deleteFinished(db: Db, before: number, most: number): Promise<void> {
  const first = await deliveries(db)
    .whereNotNull('finished_at')
    .orderBy('finished_at', 'desc')
    .offset(most)
    .first('finished_at');
  const limit = Math.max(before, first?.finished_at ?? 0);
  let removed: number;
  do {
    const slice = deliveries(db).select('id').where('finished_at', '<=', limit).limit(SLICE_ROWS);
    removed = await deliveries(db).whereIn('id', slice).delete();
  } while (removed === SLICE_ROWS);
}

/** Newest first. */
export function listDeliveries(db: Db, filter: DeliveryFilter, page: Page): Promise<Listed<Delivery>> {
  const given = Object.entries(filter).filter(([, wanted]) => wanted !== undefined);
  const where = Object.fromEntries(given);
  return newestRows<Delivery>(db, {
    from: 'push_deliveries',
    where: (query) => void query.where(where),
    ...page,
  });
}

const deliveries = (db: Db) => db<Delivery>('push_deliveries');
