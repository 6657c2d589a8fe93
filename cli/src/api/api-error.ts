import type { ErrorEnvelope, Issue } from '@svc/contract';
import { Failure } from '../failure.js';

/** An answer of the server that is not 2xx. */
export class ApiError extends Failure {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The error of an answer, as one line that names each refused field. `text` is the answer's body. */
export function toApiError(status: number, text: string, url: string): ApiError {
  const envelope = parseEnvelope(text);
  if (envelope === null)
    return new ApiError(status, 'unknown', `${url} answered ${status}, and not as svc does`);
  const { code, message, details } = envelope.error;
  if (code === 'unauthorized') return new ApiError(status, code, `${message} (set SVC_TOKEN or --token)`);
  if (code === 'forbidden') return new ApiError(status, code, `not allowed: ${message}`);
  const { errors: issues = [] } = details as { errors?: readonly Issue[] };
  return new ApiError(status, code, issues.length > 1 ? issues.map(toLine).join('; ') : message);
}

function toLine({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}

function parseEnvelope(text: string): ErrorEnvelope | null {
  try {
    const value = JSON.parse(text) as Partial<ErrorEnvelope>;
    return typeof value.error?.message === 'string' ? (value as ErrorEnvelope) : null;
  } catch {
    return null;
  }
}
