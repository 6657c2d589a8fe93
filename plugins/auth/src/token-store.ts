import { newId, type IngestBinding, type Scope, type TokenRecord } from '@svc/contract';
import { fail, newestRows, requireId, type Db, type Listed, type Page } from '@svc/kernel';
import { createTokenText, hashSecret } from './secret.js';
import type { CreatedToken, TokenDraft } from './service.js';

/** Spooled data still gets in for this long after an attempt or run has ended. */
const INGEST_AFTERLIFE_MS = 10 * 60_000;

export interface TokenRow extends TokenRecord {
  readonly hash: string;
  readonly job_id: string | null;
  readonly attempt: number | null;
  readonly run_id: string | null;
}

/** Stores a new token of an operator. Only the result contains the token itself. */
export async function createToken(db: Db, draft: TokenDraft, at: number): Promise<CreatedToken> {
  const {
    hash: _hash,
    job_id: _job,
    attempt: _attempt,
    run_id: _run,
    ...created
  } = await insert(db, draft, null, at);
  return created;
}

export async function mintIngest(db: Db, binding: IngestBinding, at: number): Promise<string> {
  const name =
    'run_id' in binding ? `ingest ${binding.run_id}` : `ingest ${binding.job_id} attempt ${binding.attempt}`;
  const { token } = await insert(db, { name, scope: 'sdk', expires_at: null }, binding, at);
  return token;
}

/** The earlier of two ends applies. */
export async function endIngest(db: Db, binding: IngestBinding, at: number): Promise<void> {
  const end = at + INGEST_AFTERLIFE_MS;
  await db('tokens')
    .where(binding)
    .where((open) => void open.whereNull('expires_at').orWhere('expires_at', '>', end))
    .update({ expires_at: end });
}

/** The tokens of operators, newest first; ingest tokens come and go with their attempts and are not listed. */
export async function listTokens(db: Db, page: Page): Promise<Listed<TokenRecord>> {
  const { items, ...rest } = await newestRows<TokenRow>(db, {
    from: 'tokens',
    where: (query) => void query.whereNull('job_id').whereNull('run_id'),
    ...page,
  });
  return { items: items.map(toTokenRecord), ...rest };
}

/** Revoking twice changes nothing. Throws not_found. A server that runs must also forget what it has cached. */
export async function revokeToken(db: Db, id: string, at: number): Promise<TokenRecord> {
  const tokenId = requireId('token', id);
  await operatorTokens(db).where({ id: tokenId }).whereNull('revoked_at').update({ revoked_at: at });
  const row = await operatorTokens(db).where({ id: tokenId }).first();
  return row ? toTokenRecord(row) : fail('not_found', `no token "${id}"`);
}

export async function findByHash(db: Db, hash: string): Promise<TokenRow | undefined> {
  return db<TokenRow>('tokens').where({ hash }).first();
}

export async function noteUse(db: Db, id: string, at: number): Promise<void> {
  await db('tokens').where({ id }).update({ last_used_at: at });
}

export async function hasTokens(db: Db): Promise<boolean> {
  return (await db('tokens').first('id')) !== undefined;
}

export async function deleteExpiredIngest(db: Db, at: number): Promise<void> {
  await db('tokens')
    .where('expires_at', '<', at)
    .where((bound) => void bound.whereNotNull('job_id').orWhereNotNull('run_id'))
    .delete();
}

function operatorTokens(db: Db) {
  return db<TokenRow>('tokens').whereNull('job_id').whereNull('run_id');
}

async function insert(db: Db, draft: TokenDraft, binding: IngestBinding | null, at: number) {
  const token = createTokenText(draft.scope);
  const row: TokenRow = {
    id: newId('token', at),
    name: draft.name,
    scope: draft.scope,
    created_at: at,
    expires_at: draft.expires_at,
    last_used_at: null,
    revoked_at: null,
    hash: hashSecret(token),
    job_id: null,
    attempt: null,
    run_id: null,
    ...binding,
  };
  await db('tokens').insert(row);
  return { ...row, token };
}

function toTokenRecord(row: TokenRow): TokenRecord {
  const { id, name, created_at, expires_at, last_used_at, revoked_at } = row;
  return { id, name, scope: row.scope as Scope, created_at, expires_at, last_used_at, revoked_at };
}
