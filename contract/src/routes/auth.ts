import { Type } from 'typebox';
import { Timestamp, listOf, nullable, page, route, strict } from '../route.js';
import { Name } from '../records/project.js';
import { ScopeName, TokenRecord, Whoami } from '../records/token.js';

export const whoami = route({
  id: 'auth.whoami',
  method: 'GET',
  path: '/auth/whoami',
  scope: 'any',
  summary: "The caller's token name and scope.",
  answers: { 200: Whoami },
});

export const NewToken = strict({ ...TokenRecord.properties, token: Type.String() }, { $id: 'NewToken' });

export const createToken = route({
  id: 'tokens.create',
  method: 'POST',
  path: '/tokens',
  scope: 'write',
  summary: 'Create a token; the answer shows it once.',
  body: strict({ name: Name, scope: ScopeName, expires_at: Type.Optional(nullable(Timestamp)) }),
  answers: { 201: NewToken },
});

export const listTokens = route({
  id: 'tokens.list',
  method: 'GET',
  path: '/tokens',
  scope: 'write',
  summary: 'Tokens, newest first, without their secrets.',
  query: strict(page()),
  answers: { 200: listOf(TokenRecord) },
});

export const revokeToken = route({
  id: 'tokens.revoke',
  method: 'DELETE',
  path: '/tokens/{token_id}',
  scope: 'write',
  summary: 'Revoke a token; it stops working at once.',
  answers: { 200: TokenRecord },
});

export const createSignInLink = route({
  id: 'auth.createSignInLink',
  method: 'POST',
  path: '/auth/sign-in-links',
  scope: 'write',
  summary: 'A one-time code that signs a browser in to the console.',
  answers: { 201: strict({ code: Type.String(), expires_at: Timestamp }) },
});

export const redeemSignInLink = route({
  id: 'auth.redeemSignInLink',
  method: 'POST',
  path: '/auth/sign-in-links:redeem',
  scope: 'none',
  summary: 'Trade a one-time code for a token of the console; the code works once.',
  body: strict({ code: Type.String({ minLength: 1, maxLength: 200 }) }),
  bodyLimitBytes: 1024,
  answers: { 200: strict({ token: Type.String() }) },
});
