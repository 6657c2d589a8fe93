import type { BodyOf, EventDraft, EventRecord, Run, routes } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
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
}

export interface Events {
  /** Stores an event within the given transaction. `at` in ms. Give the records to `publish` once it has committed. */
  append(db: Db, draft: EventDraft, at: number): Promise<EventRecord>;
  /** After commit: streams and `eventAppended` get the events, each once and in one order for all. Never rejects. */
  publish(records: readonly EventRecord[]): Promise<void>;
  /** Stores what a run reports, in a transaction of its own, and publishes it. */
  report(run: Run, report: EventReport): Promise<Reported>;
  /** Newest first. What the filter leaves out, or has null, is not selected by; ids are canonical. */
  list(db: Db, filter: Partial<EventFilter>, limit: number): Promise<EventRecord[]>;
}

export const eventsRef = serviceRef<Events>('events');
