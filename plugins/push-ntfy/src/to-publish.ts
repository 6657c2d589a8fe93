import type { EventRecord, Severity } from '@svc/contract';
import { cutToBytes } from '@svc/kernel';
import type { PushRequest } from '@svc/plugin-push';
import { encodeHeader } from './encode-header.js';

/** A body of 4096 becomes an attachment, which many servers refuse. */
const MOST_BODY_BYTES = 4095;
/** With this many the header stays below what a proxy takes. */
const MOST_TITLE_BYTES = 2048;
const PRIORITIES: Readonly<Record<Severity, string>> = { info: '3', warning: '4', critical: '5' };

/** An event in the form of an ntfy publish. An empty body would be shown as "triggered", so the title stands for a message that is missing. */
export function toPublish({ id, type, severity, title, message }: EventRecord): PushRequest {
  return {
    headers: {
      Title: encodeHeader(cutToBytes(title, MOST_TITLE_BYTES)),
      Priority: PRIORITIES[severity],
      Tags: encodeHeader(`${type},${severity}`),
      'X-Event-Id': id,
    },
    body: cutToBytes(message || title, MOST_BODY_BYTES),
  };
}
