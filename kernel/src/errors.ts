import { ERRORS, toId, type ErrorCode, type ErrorEnvelope, type IdKind, type Issue } from '@svc/contract';
import { isDatabaseOutage, isDiskFull } from './db/outage.js';

/** An answer that is not 2xx: thrown anywhere below a route, sent as the error envelope. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Throws the HttpError of that code. */
export function fail(code: ErrorCode, message: string, details?: Record<string, unknown>): never {
  throw new HttpError(code, message, details);
}

/** So many mistakes of an input are listed; the rest is counted. */
export const MAX_LISTED = 20;

/** What is wrong with an input; `more`: how much else is, that is not listed. */
export type Mistakes = readonly Issue[] & { readonly more?: number };

/** Throws a 422 whose details name each refused field. */
export function failValidation(...errors: readonly Issue[]): never {
  throw toValidationError(errors);
}

/** As `failValidation`, when there is a mistake. */
export function refuse(mistakes: Mistakes): void {
  if (mistakes.length > 0) throw toValidationError(mistakes);
}

function toValidationError(mistakes: Mistakes): HttpError {
  const { more } = mistakes;
  const [first] = mistakes.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const refused = mistakes.length === 1 && first ? first : `${mistakes.length} fields were refused`;
  if (more === undefined) return new HttpError('validation_error', refused, { errors: mistakes });
  const message = `${refused}; ${more} more mistakes are not listed`;
  return new HttpError('validation_error', message, { errors: [...mistakes], more });
}

/** The canonical form of an identifier from a path; 404 when it is malformed. */
export function requireId(kind: IdKind, input: string): string {
  return toId(kind, input) ?? fail('not_found', `no ${kind} "${input}"`);
}

/** The canonical form of an identifier that a filter names, if it names one. `require` throws not_found. */
export async function idOf(
  given: string | undefined,
  require: (id: string) => Promise<{ readonly id: string }>,
): Promise<string | undefined> {
  return given === undefined ? undefined : (await require(given)).id;
}

/** Collects what is wrong with an input, so that all of it is answered at once. */
export type IssueSink = { add(path: string, message: string): void };

export class Issues implements IssueSink {
  readonly list: Issue[] = [];
  #more = 0;

  add(path: string, message: string): void {
    if (this.list.length < MAX_LISTED) this.list.push({ path, message });
    else this.#more += 1;
  }

  /** Throws a 422 when there are any: it lists the first of them and counts the rest. */
  throwIfAny(): void {
    refuse(this.#more > 0 ? Object.assign([...this.list], { more: this.#more }) : this.list);
  }
}

/** Why the server cannot start, in a sentence that says the fix. Shown without a stack. */
export class BootError extends Error {
  override readonly name = 'BootError';

  /** `culprit`: the plugin or key to look for in svc.config.ts; of several the first that is found. */
  constructor(
    message: string,
    readonly culprit?: string | readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function failBoot(message: string, culprit?: string | readonly string[], cause?: unknown): never {
  throw new BootError(message, culprit, { cause });
}

/** True for errors that speak to their reader already: they pass through the kernel as they are. */
export function isAnswerable(error: unknown): error is HttpError | BootError {
  return error instanceof Error && (error.name === 'HttpError' || error.name === 'BootError');
}

/** The answer to whatever was thrown. Of a defect it tells nothing but the request id. */
export function toHttpError(error: unknown, request_id: string): HttpError {
  if (isAnswerable(error) && error.name === 'HttpError') return error;
  if ((error as Error | undefined)?.name === 'URIError')
    return new HttpError('not_found', 'the path has a malformed percent-encoding');
  if (isDiskFull(error))
    return new HttpError('unavailable', "the server's disk is full; make room on it and try again");
  if (isDatabaseOutage(error))
    return new HttpError('unavailable', 'the database does not answer now; try again');
  return new HttpError('internal', `the server failed; its log has more under ${request_id}`, { request_id });
}

export const toEnvelope = ({ code, message, details }: HttpError): ErrorEnvelope => ({
  error: { code, message, details },
});
