import type { EventDraft, EventRecord } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
import type { EventFilter } from './filter.js';

export interface Events {
  /** Stores an event within the given transaction. `at` in ms. Give the records to `publish` once it has committed. */
  append(db: Db, draft: EventDraft, at: number): Promise<EventRecord>;
  /** After commit: streams and `eventAppended` get the events, each once and in one order for all. Never rejects. */
  publish(records: readonly EventRecord[]): Promise<void>;
  /** Newest first. What the filter leaves out, or has null, is not selected by; ids are canonical. */
  list(db: Db, filter: Partial<EventFilter>, limit: number): Promise<EventRecord[]>;
}

export const eventsRef = serviceRef<Events>('events');
