import type { EventRecord } from '@svc/contract';
import { decision, observation, type Db } from '@svc/kernel';

/** What an event may be about. */
export type SubjectKind = 'run' | 'job' | 'node';

/** The canonical id of what an event is about, from any form of it; throws not_found. Asked of the plugin that keeps such records. */
export const findSubject = decision.firstAnswer<[db: Db, kind: SubjectKind, id: string], string>(
  'events.findSubject',
);

/** After commit, each event once and in the order of the streams. */
export const eventAppended = observation<[event: EventRecord]>('events.appended');
