import type { routes, Whoami } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Whoami };

const WHOAMI = endpoint<typeof routes.whoami>('GET', '/auth/whoami');
const REDEEM = endpoint<typeof routes.redeemSignInLink>('POST', '/auth/sign-in-links:redeem');

export function whoami(api: Api): Promise<Whoami> {
  return api.call(WHOAMI, {});
}

/** Trades the one-time code of a sign-in link for a token. */
export async function redeemSignInLink(api: Api, code: string): Promise<string> {
  return (await api.call(REDEEM, { body: { code } })).token;
}
