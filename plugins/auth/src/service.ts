import type { IngestBinding, Scope, TokenRecord } from '@svc/contract';
import { serviceRef, type Caller, type Db } from '@svc/kernel';

export interface TokenDraft {
  readonly name: string;
  readonly scope: Scope;
  /** Milliseconds since the epoch; null never expires. */
  readonly expires_at: number | null;
}

/** The only record that contains the token itself. */
export interface CreatedToken extends TokenRecord {
  readonly token: string;
}

export interface Auth {
  /** Creates a token of scope sdk that is valid only for the runs of one attempt, or for one run. `at` in ms. */
  mintIngest(db: Db, binding: IngestBinding, at: number): Promise<string>;
  /** Its ingest tokens expire 10 minutes after `at`, so that spooled data is still accepted. May be repeated; never extends the time. */
  endIngest(db: Db, binding: IngestBinding, at: number): Promise<void>;
  /** Whether the caller may write to this run: any token of sdk or write scope, or an ingest token bound to it. */
  mayIngest(caller: Caller, run: IngestTarget): boolean;
  /** Returns the token that was created at the very first start, for the terminal; null at any later call. */
  takeFirstToken(): string | null;
}

/** The fields of a run that decide who may write to it. */
export interface IngestTarget {
  readonly id: string;
  readonly job_id: string | null;
  readonly attempt: number | null;
}

export const authRef = serviceRef<Auth>('auth');
