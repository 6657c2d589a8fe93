import type { AnswerOf, routes, TokenRecord } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { TokenRecord };
export type NewToken = AnswerOf<typeof routes.createToken>['body'];
export type TokenScope = TokenRecord['scope'];

const LIST = endpoint<typeof routes.listTokens>('GET', '/tokens');
const CREATE = endpoint<typeof routes.createToken>('POST', '/tokens');
const REVOKE = endpoint<typeof routes.revokeToken>('DELETE', '/tokens/{token_id}');
export const MOST_TOKENS = 1000;

/** The newest ones, without their secrets. */
export async function listTokens(api: Api, signal?: AbortSignal): Promise<TokenRecord[]> {
  return (await api.call(LIST, { query: { limit: MOST_TOKENS }, signal })).items;
}

/** The answer alone has the secret. `expiresAt`: in ms since the Unix epoch; null: never. */
export function createToken(
  api: Api,
  { name, scope, expiresAt }: { name: string; scope: TokenScope; expiresAt: number | null },
): Promise<NewToken> {
  return api.call(CREATE, { body: { name, scope, expires_at: expiresAt } });
}

export function revokeToken(api: Api, tokenId: string): Promise<TokenRecord> {
  return api.call(REVOKE, { params: { token_id: tokenId } });
}

/** Whether a request with it is accepted at that time. */
export function isValid({ revoked_at: revokedAt, expires_at: expiresAt }: TokenRecord, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
