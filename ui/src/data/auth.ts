import type { Whoami } from '@svc/contract';
import type { Api } from './api.js';

export type { Whoami };

export function whoami(api: Api): Promise<Whoami> {
  return api.get<Whoami>('/auth/whoami');
}

/** Trades the one-time code of a sign-in link for a token. */
export async function redeemSignInLink(api: Api, code: string): Promise<string> {
  const { token } = await api.post<{ token: string }>('/auth/sign-in-links:redeem', { code });
  return token;
}
