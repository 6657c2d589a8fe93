import type { Scope } from '@svc/contract';

/** Who makes a request, as the `authenticate` hook says. */
export interface Caller {
  readonly token_id: string;
  readonly name: string;
  readonly scope: Scope;
  /** Set for a run ingest token: what it is good for. Other tokens have null. */
  readonly ingest: IngestBinding | null;
}

export type IngestBinding =
  { readonly job_id: string; readonly attempt: number } | { readonly run_id: string };
