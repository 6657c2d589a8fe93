import { ERRORS, toId, type ErrorCode, type IdKind, type Issue } from '@svc/contract';

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

/** Throws a 422 whose details name each refused field. */
export function failValidation(...issues: readonly Issue[]): never {
  const [first] = issues;
  const message = issues.length === 1 && first ? toSentence(first) : `${issues.length} fields were refused`;
  throw new HttpError('validation_error', message, { errors: issues });
}

/** The canonical form of an identifier from a path; 404 when it is malformed. */
export function requireId(kind: IdKind, input: string): string {
  return toId(kind, input) ?? fail('not_found', `no ${kind} "${input}"`);
}

/** Collects what is wrong with an input, so that all of it is answered at once. */
export interface IssueSink {
  add(path: string, message: string): void;
}

export class Issues implements IssueSink {
  readonly list: Issue[] = [];

  add(path: string, message: string): void {
    this.list.push({ path, message });
  }

  /** Throws a 422 with all of them when there are any. */
  throwIfAny(): void {
    if (this.list.length > 0) failValidation(...this.list);
  }
}

/** Why the server cannot start, in a sentence that says the fix. Shown without a stack. */
export class BootError extends Error {
  override readonly name = 'BootError';
}

function toSentence({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}
