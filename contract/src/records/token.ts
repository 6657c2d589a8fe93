import { Type, type Static } from 'typebox';
import { SCOPES } from '../protocol/enums.js';
import { Timestamp, nullable, strict } from '../route.js';

export const ScopeName = Type.Enum([...SCOPES]);

export const TokenRecord = strict(
  {
    id: Type.String(),
    name: Type.String(),
    scope: ScopeName,
    created_at: Timestamp,
    expires_at: nullable(Timestamp),
    last_used_at: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
  },
  { $id: 'Token' },
);
export type TokenRecord = Static<typeof TokenRecord>;

export const Whoami = strict(
  { name: Type.String(), scope: ScopeName, can_write: Type.Boolean() },
  { $id: 'Whoami' },
);
export type Whoami = Static<typeof Whoami>;

/** What a run ingest token is good for: the runs of one attempt, or one run. */
export type IngestBinding =
  { readonly job_id: string; readonly attempt: number } | { readonly run_id: string };
