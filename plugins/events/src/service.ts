import type { BodyOf, EventDraft, EventRecord, Run, routes } from '@svc/contract';
import { serviceRef, type Db, type Tx } from '@svc/kernel';
import type { EventFilter } from './filter.js';

/** A CUSTOM event, as its run tells it. */
export interface EventReport {
  readonly body: BodyOf<typeof routes.createEvent>;
  /** The run's own name for it: told again under this key it is the same event. null: told again it is another. */
  readonly key: string | null;
  /** When it happened, in ms; left out: now. */
  readonly at?: number;
}

export interface Reported {
  readonly event: EventRecord;
  /** False: the run had told one of this key, and that one stands. */
  readonly isNew: boolean;
  /** The event says what the report says. */
  readonly isSame: boolean;
}

export interface Events {
  /** Stores an event in the transaction; after its commit streams and `eventAppended` get it, in one order for all. `at` in ms; left out: now. */
  append(tx: Tx, draft: EventDraft, at?: number): Promise<EventRecord>;
  /** Stores what a run reports, in a transaction of its own. */
  report(run: Run, report: EventReport): Promise<Reported>;
  /** Newest first. What the filter leaves out, or has null, is not selected by; ids are canonical. */
  list(db: Db, filter: Partial<EventFilter>, limit: number): Promise<EventRecord[]>;
}

export const eventsRef = serviceRef<Events>('events');
