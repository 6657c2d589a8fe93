import { createClient } from '@svc/client';
import { toDataDir } from '@svc/client/local-server';
import { routes, type TokenRecord } from '@svc/contract';
import type { CreatedToken, TokenDraft } from '@svc/plugin-auth';
import { readAll } from './read-all.js';
import { isServerMeant, loadConnection, type ConnectionOptions } from '../settings.js';

export interface Tokens {
  create(draft: TokenDraft): Promise<CreatedToken>;
  list(): Promise<TokenRecord[]>;
  revoke(id: string): Promise<TokenRecord>;
}

/** Tokens of the server that was named or that runs here; of the local data directory when neither is. */
export async function withTokens<T>(
  options: ConnectionOptions,
  work: (tokens: Tokens) => Promise<T>,
): Promise<T> {
  if (isServerMeant(options)) return work(tokensOfServer(options));
  const { withTokensOfDataDir } = await import('./data-dir-tokens.js');
  return withTokensOfDataDir(toDataDir(options.dataDir), work);
}

function tokensOfServer(options: ConnectionOptions): Tokens {
  const client = createClient(loadConnection(options));
  return {
    create: (body) => client.call(routes.createToken, { body }),
    list: () => readAll((query) => client.call(routes.listTokens, { query })),
    revoke: (id) => client.call(routes.revokeToken, { params: { token_id: id } }),
  };
}
