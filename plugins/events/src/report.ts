import {
  EVENT_DATA_BYTES,
  maskSecrets,
  maskText,
  type EventDraft,
  type EventRecord,
  type Run,
} from '@svc/contract';
import { fail, refuseLargeJson, type PluginContext } from '@svc/kernel';
import type { EventFeed } from './feed.js';
import type { EventReport, Reported } from './service.js';
import { findReported, insertEvent, newEvent } from './store.js';

/** Stores the CUSTOM event of a run, unless the run has one with that key. */
export async function reportEvent(
  { db, clock, transaction }: Pick<PluginContext, 'db' | 'clock' | 'transaction'>,
  feed: EventFeed,
  run: Run,
  { body, key, at = clock.now() }: EventReport,
): Promise<Reported> {
  refuseLargeJson('data', body.data ?? {}, EVENT_DATA_BYTES);
  const event = newEvent({ ...toReported(body), type: 'CUSTOM', run_id: run.id, job_id: run.job_id }, at);
  const isNew = await transaction((tx) => insertEvent(tx, event, key));
  // Published before the answer: a stream that the client opens afterwards must not show the event.
  await feed.flush();
  if (isNew) return { event, isNew, isSame: true };
  const first =
    (await findReported(db, run.id, key as string)) ??
    fail('unavailable', 'the event is being stored; try again');
  return { event: first, isNew, isSame: isSame(first, body) };
}

/** The content of the report with masked secrets. */
function toReported({ title, message = '', data = {}, ...rest }: EventReport['body']) {
  const masked = { title: maskText(title), message: maskText(message), data: maskSecrets(data) };
  return { ...rest, ...masked } as Omit<EventDraft, 'type'>;
}

/** Whether the stored event has the same content as this report with the same key. */
function isSame(first: EventRecord, body: EventReport['body']): boolean {
  const { title, message = '', severity = 'info', data = {} } = toReported(body);
  const said = JSON.stringify([title, message, severity, data]);
  return JSON.stringify([first.title, first.message, first.severity, first.data]) === said;
}
