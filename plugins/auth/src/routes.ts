import { routes as contract } from '@svc/contract';
import {
  created,
  fail,
  failValidation,
  ok,
  toPage,
  type PluginContext,
  type RouteCollector,
} from '@svc/kernel';
import type { Authenticator } from './authenticator.js';
import { SignInRateLimit } from './sign-in-rate-limit.js';
import { createSignInLink, redeemSignInLink } from './sign-in.js';
import { createToken, listTokens, revokeToken } from './token-store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, authenticator: Authenticator): void {
  const now = () => ctx.clock.now();
  const misses = new SignInRateLimit(ctx.clock);

  routes.add(contract.whoami, ({ caller: { name, scope } }) =>
    ok({ name, scope, can_write: scope === 'write' }),
  );

  routes.add(contract.createToken, async ({ body: { name, scope, expires_at = null } }) => {
    if (expires_at !== null && expires_at <= now()) {
      failValidation({
        path: 'expires_at',
        message: 'must be in the future, in milliseconds since the Unix epoch',
      });
    }
    return created(await createToken(ctx.db, { name, scope, expires_at }, now()));
  });

  routes.add(contract.listTokens, async ({ query }) => ok(await listTokens(ctx.db, toPage('token', query))));

  routes.add(contract.revokeToken, async ({ params }) => {
    const revoked = await revokeToken(ctx.db, params.token_id, now());
    authenticator.forgetAll();
    return ok(revoked);
  });

  routes.add(contract.createSignInLink, async () => created(await createSignInLink(ctx.db, now())));

  routes.add(
    contract.redeemSignInLink,
    async ({ body, koa }) => {
      const token = await redeemSignInLink(ctx.db, body.code, now());
      if (token === null)
        fail('unauthorized', 'the sign-in code is unknown, used or expired; ask for a new link');
      misses.uncount(koa.ip);
      return ok({ token });
    },
    ({ ip }) => misses.count(ip),
  );
}
