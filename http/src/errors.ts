import { toId, withoutDirection, type ErrorEnvelope, type IdKind } from '@svc/contract';
import { isAnswerable } from '@svc/hooks';
import { HttpError, fail } from '@svc/validation';

/** Returns a message for the client when an outage of the database or the host caused the error, otherwise null. */
export type ExplainOutage = (error: unknown) => string | null;

/** The canonical form of an identifier from a path; 404 when it is malformed. */
export function requireId(kind: IdKind, input: string): string {
  return toId(kind, input) ?? fail('not_found', `no ${kind} "${input}"`);
}

/** The canonical form of the identifier in a filter, if it is given. `require` throws not_found. */
export async function idOf(
  given: string | undefined,
  require: (id: string) => Promise<{ readonly id: string }>,
): Promise<string | undefined> {
  return given === undefined ? undefined : (await require(given)).id;
}

/** The answer for anything that was thrown. For a defect it contains only the request id. */
export function toHttpError(error: unknown, request_id: string, explainOutage: ExplainOutage): HttpError {
  if (isAnswerable(error) && error.name === 'HttpError') return error;
  if ((error as Error | undefined)?.name === 'URIError')
    return new HttpError('not_found', 'the path has a malformed percent-encoding');
  const outage = explainOutage(error);
  if (outage !== null) return new HttpError('unavailable', outage);
  return new HttpError('internal', `the server failed; its log has more under ${request_id}`, { request_id });
}

export const toEnvelope = ({ code, message, details }: HttpError): ErrorEnvelope => ({
  error: { code, message: withoutDirection(message), details },
});
