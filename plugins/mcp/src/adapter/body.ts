import type { IncomingMessage } from 'node:http';
import { fail, parseJson } from '@svc/validation';

/** As the REST API: no tool takes more. */
const MOST_BYTES = 1024 * 1024;

/** The JSON of the request. Throws HttpError. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) refuseLarge();
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) refuseLarge();
    parts.push(part);
  }
  return parseJson(Buffer.concat(parts));
}

function refuseLarge(): never {
  fail('payload_too_large', `the body is over ${MOST_BYTES} bytes`);
}
