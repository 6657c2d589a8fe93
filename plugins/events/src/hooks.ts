import type { EventRecord } from '@svc/contract';
import { decision, observation, type Db } from '@svc/kernel';

/** What an event may be about. */
export type SubjectKind = 'run' | 'job' | 'node';

/** Returns the canonical id of what an event is about, from any form of it; throws not_found. The plugin that owns such records answers. */
export const findSubject = decision.firstAnswer<[db: Db, kind: SubjectKind, id: string], string>(
  'events.findSubject',
);

/** The names of those of these records that a plugin has, by their ids in canonical form. Ids of all kinds, at most 3000. */
export const nameSubjects = decision.gather<[db: Db, ids: readonly string[]], ReadonlyMap<string, string>>(
  'events.nameSubjects',
);

/** Fired after the commit, once for each event and in the order of the streams. */
export const eventAppended = observation<[event: EventRecord]>('events.appended');
