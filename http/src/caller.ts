import type { IngestBinding, Scope } from '@svc/contract';

/** Who makes a request, as returned by `authenticate`. */
export interface Caller {
  readonly token_id: string;
  readonly name: string;
  readonly scope: Scope;
  /** Set for a run ingest token: what it is good for. Other tokens have null. */
  readonly ingest: IngestBinding | null;
}
