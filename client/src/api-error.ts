import type { ErrorCode, ErrorEnvelope, Issue } from '@svc/contract';
import type { Connection } from './client.js';

/**
 * A code of the contract, or one of the client. `network`: there was no answer. `unreadable`: the answer was incomplete, or not one of an
 * svc server (such as the page of a proxy).
 */
export type ApiErrorCode = ErrorCode | 'network' | 'unreadable';

const HINTS: Partial<Record<ApiErrorCode, string>> = {
  network: 'is the server running? start it with: svc up',
  unreadable: 'is it an svc server?',
  unauthorized: 'set SVC_TOKEN to a token that is valid, or log in with svc login',
};

interface ErrorFacts {
  readonly code: ApiErrorCode;
  readonly message: string;
  /** 0 when no answer came. */
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The address of the server. */
  readonly url?: string;
  /** false: the request named no token. */
  readonly hadToken?: boolean;
  /** How long the server asks to wait, in its header Retry-After. */
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** Why a request failed. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly hadToken: boolean;
  readonly retryAfterMs: number | null;

  constructor(facts: ErrorFacts) {
    const { code, message, status = 0, details = {}, url = '', hadToken = true, retryAfterMs = null } = facts;
    super(message, { cause: facts.cause });
    this.code = code;
    this.status = status;
    this.details = details;
    this.url = url;
    this.hadToken = hadToken;
    this.retryAfterMs = retryAfterMs;
  }

  /** What the user can do about it, or null. */
  get hint(): string | null {
    return HINTS[this.code] ?? null;
  }

  /** The refused fields of a validation error. */
  get issues(): readonly Issue[] {
    return Array.isArray(this.details['errors']) ? (this.details['errors'] as Issue[]) : [];
  }

  /** The request itself is wrong: a retry would be refused as well. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

/** The error of an answer that is not 2xx. */
export async function readError(response: Response, { url, token }: Connection): Promise<ApiError> {
  const { status } = response;
  const retryAfterMs = toRetryAfterMs(response.headers.get('retry-after'));
  const facts = { status, url, hadToken: token !== null, retryAfterMs };
  const envelope = parseEnvelope(await response.text().catch(() => ''));
  return envelope === null
    ? new ApiError({ code: 'unreadable', message: `The server answered ${status}.`, ...facts })
    : new ApiError({ ...envelope.error, details: { ...envelope.error.details }, ...facts });
}

function toRetryAfterMs(seconds: string | null): number | null {
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : null;
}

function parseEnvelope(text: string): ErrorEnvelope | null {
  try {
    const { error } = JSON.parse(text) as Partial<ErrorEnvelope>;
    return typeof error?.code === 'string' && typeof error.message === 'string' ? { error } : null;
  } catch {
    return null;
  }
}
