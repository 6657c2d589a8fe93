import type { IngestBinding, Scope, TokenRecord } from '@svc/contract';
import { serviceRef, type Caller, type Db } from '@svc/kernel';

export interface TokenDraft {
  readonly name: string;
  readonly scope: Scope;
  /** Milliseconds since the epoch; null never expires. */
  readonly expires_at: number | null;
}

/** The only time that the token itself is shown. */
export interface CreatedToken extends TokenRecord {
  readonly token: string;
}

export interface Auth {
  /** A token of scope sdk that is good for one attempt's runs, or one run, alone. `at` in ms. */
  mintIngest(db: Db, binding: IngestBinding, at: number): Promise<string>;
  /** Its ingest tokens die 10 minutes after `at` (spooled data still gets in). May be repeated; never prolongs. */
  endIngest(db: Db, binding: IngestBinding, at: number): Promise<void>;
  /** Whether the caller may write to this run: any token of sdk or write scope, or an ingest token bound to it. */
  mayIngest(caller: Caller, run: IngestTarget): boolean;
  /** The token made at the very first start, once, for the terminal that started the server; null ever after. */
  takeFirstToken(): string | null;
}

/** What of a run decides who may write to it. */
export interface IngestTarget {
  readonly id: string;
  readonly job_id: string | null;
  readonly attempt: number | null;
}

export const authRef = serviceRef<Auth>('auth');
