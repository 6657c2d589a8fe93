import type { EventRecord } from '@svc/contract';
import { decision, observation, type Db } from '@svc/kernel';

/** What an event may be about. */
export type SubjectKind = 'run' | 'job' | 'node';

/** Returns the canonical id of what an event is about, from any form of it; throws not_found. The plugin that owns such records answers. */
export const findSubject = decision.firstAnswer<[db: Db, kind: SubjectKind, id: string], string>(
  'events.findSubject',
);

/** Fired after the commit, once for each event and in the order of the streams. */
export const eventAppended = observation<[event: EventRecord]>('events.appended');
