import { ERRORS, type ErrorCode, type Issue } from '@svc/contract';

/** An answer that is not 2xx. It may be thrown anywhere in a handler and is sent as the error envelope. */
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

/** The maximum number of listed mistakes; further ones are counted. */
export const MAX_LISTED = 20;

/** What is wrong with an input; `more`: the number of mistakes that are not listed. */
export type Mistakes = readonly Issue[] & { readonly more?: number };

/** Throws a 422 whose details name each refused field. */
export function failValidation(...errors: readonly Issue[]): never {
  throw toValidationError(errors);
}

/** Throws as `failValidation` if there are mistakes. */
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

/** Collects the mistakes of an input, so that one answer names them all. */
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
