import { EventRecord } from '@svc/contract';
import { BootError, cutToBytes } from '@svc/kernel';

export type Template = 'event' | 'slack' | Readonly<Record<string, unknown>>;

const MOST_TEXT_BYTES = 4096;
const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const FIELDS = [...Object.keys(EventRecord.properties), 'timestamp'];

type Fields = Readonly<Record<string, unknown>>;

/** Makes the body of an event, as JSON. Throws a BootError for a placeholder that is no field of an event. */
export function compileTemplate(
  plugin: string,
  what: string,
  template: Template,
): (event: EventRecord) => string {
  if (template === 'event') return (event) => JSON.stringify(toPayload(event));
  if (template === 'slack') return (event) => JSON.stringify({ text: toSlackText(event) });
  for (const [, name = ''] of JSON.stringify(template).matchAll(PLACEHOLDER)) {
    if (FIELDS.includes(name)) continue;
    const reason = `the template of ${what} has {{${name}}}, which is none of ${FIELDS.join(', ')}`;
    throw new BootError(`plugin "${plugin}": ${reason}`, plugin);
  }
  return (event) => JSON.stringify(fill(template, { ...event, timestamp: toTimestamp(event) }));
}

/** The payload that Standard Webhooks recommends. */
function toPayload(event: EventRecord) {
  return { type: event.type, timestamp: toTimestamp(event), data: event };
}

/** Mattermost, Rocket.Chat and others take it too. */
function toSlackText({ type, severity, title, message, run_id, job_id, node_id }: EventRecord): string {
  const subjects = [run_id, job_id, node_id].filter((id) => id !== null);
  const lines = [`*${escape(title)}*`, escape(cutToBytes(message, MOST_TEXT_BYTES))];
  return [...lines, `_${[severity, escape(type), ...subjects].join(' · ')}_`]
    .filter((line) => line !== '')
    .join('\n');
}

/** So that no text of a training becomes a link or calls everybody. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A text that is one placeholder becomes the value itself, whatever it is; within a text a value becomes text. */
function fill(part: unknown, fields: Fields): unknown {
  if (typeof part === 'string') return fillText(part, fields);
  if (Array.isArray(part)) return part.map((item) => fill(item, fields));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, fill(value, fields)]));
}

function fillText(text: string, fields: Fields): unknown {
  const [whole, name = ''] = [...text.matchAll(PLACEHOLDER)][0] ?? [];
  if (whole === text) return fields[name];
  return text.replaceAll(PLACEHOLDER, (_match, each: string) => toText(fields[each]));
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function toTimestamp({ created_at }: EventRecord): string {
  return new Date(created_at).toISOString();
}
