import type { BodyOf, EventDraft, EventRecord, Run, routes } from '@svc/contract';
import { serviceRef, type Db, type Tx } from '@svc/kernel';
import type { EventFilter } from './filter.js';
import type { PositionedEvent } from './store.js';

/** A CUSTOM event that a run reports. */
export interface EventReport {
  readonly body: BodyOf<typeof routes.createEvent>;
  /** The idempotency key: a repeated report with the same key is the same event. null: each report is a new event. */
  readonly key: string | null;
  /** When it happened, in ms; default now. */
  readonly at?: number;
}

export interface Reported {
  readonly event: EventRecord;
  /** False when the run had reported an event with this key; that one is returned. */
  readonly isNew: boolean;
  /** Whether the event has the content of the report. */
  readonly isSame: boolean;
}

export interface Events {
  /** Stores an event in the transaction; after the commit it is published to streams and `eventAppended`, in one order. `at` in ms; default now. */
  append(tx: Tx, draft: EventDraft, at?: number): Promise<EventRecord>;
  /** Stores the event that a run reports, in its own transaction. */
  report(run: Run, report: EventReport): Promise<Reported>;
  /** Newest first. Missing and null fields of the filter match everything; ids are canonical. */
  list(db: Db, filter: Partial<EventFilter>, limit: number): Promise<EventRecord[]>;
  /** null when it was removed; the id is canonical. */
  find(db: Db, id: string): Promise<EventRecord | null>;
  /** Published events after that position, in the order of the streams. */
  after(db: Db, position: number, limit: number): Promise<PositionedEvent[]>;
  /** The position of the last event that was published; 0 when there is none. */
  lastPosition(db: Db): Promise<number>;
}

export const eventsRef = serviceRef<Events>('events');
