import { newId, withoutDirection, type EventDraft, type EventRecord } from '@svc/contract';
import { newestRows, selectFirstRows, type Db, type Listed, type Page } from '@svc/kernel';
import { toColumns, type EventFilter } from './filter.js';

/** An event with its position in the order of all streams. */
export interface PositionedEvent {
  readonly position: number;
  readonly event: EventRecord;
}

/** Positions after `after`, up to `upTo`. */
export interface Range {
  readonly after: number;
  readonly upTo: number;
}

/** All wanted events of the range up to the position `upTo`. */
export interface HistoryPage {
  readonly events: PositionedEvent[];
  readonly upTo: number;
}

/** How much of the table and how much text are read at once: others use the database in between. */
const PAGE_POSITIONS = 5_000;
const PAGE_CHARS = 128 * 1024;

interface EventRow extends Omit<EventRecord, 'data'> {
  readonly position: number | null;
  readonly report_key: string | null;
  readonly data: string;
}

/** Stores an event that the service tells of, in sentences of its own, without a position: it is not published yet. */
export async function appendEvent(db: Db, draft: EventDraft, at: number): Promise<EventRecord> {
  const event = newEvent(inPlainSentences(draft), at);
  await insertEvent(db, event, null);
  return event;
}

/** False when its run has an event with that key; then nothing is stored. */
export async function insertEvent(db: Db, event: EventRecord, reportKey: string | null): Promise<boolean> {
  const row: EventRow = { ...event, data: JSON.stringify(event.data), position: null, report_key: reportKey };
  const stored = await db<EventRow>('events')
    .insert(row)
    .onConflict(['run_id', 'report_key'])
    .ignore()
    .returning('id');
  return stored.length > 0;
}

/** What the run has reported under that key. */
export async function findReported(db: Db, runId: string, reportKey: string): Promise<EventRecord | null> {
  const row = await db<EventRow>('events').where({ run_id: runId, report_key: reportKey }).first();
  return row ? toEvent(row) : null;
}

/** `id` is canonical. */
export async function findEvent(db: Db, id: string): Promise<EventRecord | null> {
  const row = await db<EventRow>('events').where({ id }).first();
  return row ? toEvent(row) : null;
}

function inPlainSentences({ title, message = '', ...rest }: EventDraft): EventDraft {
  return { ...rest, title: withoutDirection(title), message: withoutDirection(message) };
}

/** NUL, which PostgreSQL cannot store, is replaced. */
export function newEvent(draft: EventDraft, at: number): EventRecord {
  return {
    id: newId('event', at),
    type: draft.type,
    severity: draft.severity ?? 'info',
    title: withoutNul(draft.title),
    message: withoutNul(draft.message ?? ''),
    run_id: draft.run_id ?? null,
    job_id: draft.job_id ?? null,
    node_id: draft.node_id ?? null,
    data: draft.data ?? {},
    created_at: at,
  };
}

/** Newest first. */
export async function listEvents(
  db: Db,
  filter: Partial<EventFilter>,
  page: Page,
): Promise<Listed<EventRecord>> {
  const { items, ...rest } = await newestRows<EventRow>(db, {
    from: 'events',
    where: (query) => void query.where(toColumns(filter)),
    ...page,
  });
  return { items: items.map(toEvent), ...rest };
}

/** Gives every committed event without a position the next one, and returns these events in that order. */
export async function positionNewEvents(db: Db): Promise<PositionedEvent[]> {
  return db.transaction(async (trx) => {
    const rows = await trx<EventRow>('events').whereNull('position').orderBy('id');
    if (rows.length === 0) return [];
    const first = (await lastPosition(trx)) + 1;
    const positioned = rows.map((row, index) => ({ position: first + index, event: toEvent(row) }));
    for (const { position, event } of positioned)
      await trx('events').where({ id: event.id }).update({ position });
    return positioned;
  });
}

/** Published events after the position, in order, at most `limit`. */
export async function eventsAfter(db: Db, position: number, limit: number): Promise<PositionedEvent[]> {
  const rows = await db<EventRow>('events').where('position', '>', position).orderBy('position').limit(limit);
  return rows.map(toPositioned);
}

/** The first wanted events of the range, in order: at most `limit`, and at most one more than a page of text takes. */
export async function historyPage(
  db: Db,
  { after, upTo }: Range,
  filter: EventFilter,
  limit: number,
): Promise<HistoryPage> {
  const end = Math.min(upTo, after + PAGE_POSITIONS);
  const query = db('events')
    .where('position', '>', after)
    .where('position', '<=', end)
    .where(toColumns(filter))
    .orderBy('position')
    .limit(limit);
  const { rows, isCut } = await selectFirstRows<EventRow>(db, query, PAGE_CHARS);
  const taken = rows.slice(0, countOnPage(rows));
  const isWhole = !isCut && taken.length === rows.length && rows.length < limit;
  const events = taken.map(toPositioned);
  return { events, upTo: isWhole ? end : (events.at(-1)?.position ?? end) };
}

function countOnPage(rows: readonly EventRow[]): number {
  let chars = 0;
  const last = rows.findIndex(({ message, data }) => (chars += message.length + data.length) > PAGE_CHARS);
  return last === -1 ? rows.length : last + 1;
}

/** The position of that event; if it was deleted, that of the newest one before it. */
export async function positionOf(db: Db, id: string): Promise<number> {
  const row = await db<EventRow>('events').where({ id }).whereNotNull('position').first('position');
  return row?.position ?? lastPosition(db, id);
}

/** The last published event up to the position; null: there is none. */
export async function idUpTo(db: Db, position: number): Promise<string | null> {
  const upTo = db<EventRow>('events').where('position', '<=', position);
  const row = await upTo.orderBy('position', 'desc').first('id');
  return row?.id ?? null;
}

/** The last position of all published events, or of those up to an id; 0 when there is none. */
export async function lastPosition(db: Db, upToId?: string): Promise<number> {
  const query = db('events').max({ last: 'position' });
  const row = await (upToId === undefined ? query : query.where('id', '<=', upToId)).first();
  return Number(row?.['last'] ?? 0);
}

function toPositioned(row: EventRow): PositionedEvent {
  return { position: row.position as number, event: toEvent(row) };
}

function toEvent({ position: _position, report_key: _key, data, ...rest }: EventRow): EventRecord {
  return { ...rest, data: JSON.parse(data) as Record<string, unknown> };
}

function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
