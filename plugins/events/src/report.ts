import {
  EVENT_DATA_BYTES,
  maskSecrets,
  maskText,
  type EventDraft,
  type EventRecord,
  type Run,
} from '@svc/contract';
import { fail, failValidation, refuseLargeJson, type PluginContext } from '@svc/kernel';
import type { EventFeed } from './feed.js';
import type { EventReport, Reported } from './service.js';
import { findReported, insertEvent, newEvent } from './store.js';

const MAX_KEY_LENGTH = 255;

/** Stores the CUSTOM event of a run and publishes it, unless the run has told one of that key. */
export async function reportEvent(
  { db, clock }: Pick<PluginContext, 'db' | 'clock'>,
  feed: EventFeed,
  run: Run,
  { body, key, at = clock.now() }: EventReport,
): Promise<Reported> {
  refuseLargeJson('data', body.data ?? {}, EVENT_DATA_BYTES);
  const event = newEvent({ ...toReported(body), type: 'CUSTOM', run_id: run.id, job_id: run.job_id }, at);
  if (await insertEvent(db, event, key)) {
    await feed.flush();
    return { event, isNew: true };
  }
  const first = await findReported(db, run.id, key as string);
  return { event: first ?? fail('unavailable', 'the event is being stored; try again'), isNew: false };
}

/** What the run tells, without secrets. */
function toReported({ title, message = '', data = {}, ...rest }: EventReport['body']) {
  const masked = { title: maskText(title), message: maskText(message), data: maskSecrets(data) };
  return { ...rest, ...masked } as Omit<EventDraft, 'type'>;
}

/** Throws conflict when the event made first under a key says something else than this report of the same key. */
export function refuseOther(first: EventRecord, body: EventReport['body']) {
  const { title, message = '', severity = 'info', data = {} } = toReported(body);
  const said = JSON.stringify([title, message, severity, data]);
  if (JSON.stringify([first.title, first.message, first.severity, first.data]) !== said)
    fail('conflict', 'this Idempotency-Key was used with another body; take a new key for a new event');
}

/** The key from an `Idempotency-Key` header; null without one. Throws validation_error. */
export function parseKey(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  const isGood = typeof header === 'string' && header.trim() !== '' && header.length <= MAX_KEY_LENGTH;
  if (!isGood)
    failValidation({ path: 'Idempotency-Key', message: `must be 1 to ${MAX_KEY_LENGTH} characters` });
  return header as string;
}
