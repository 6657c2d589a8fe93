import { EVENT_TYPES, type PushTarget } from '@svc/contract';
import { BootError, type PluginContext } from '@svc/kernel';
import { post } from './post.js';
import { readSecret } from './secret.js';
import type { Push } from './service.js';

/** Where to send, and as whom. */
interface Access {
  readonly url: string;
  readonly headers: { readonly Authorization?: string };
}

export const addTarget: Push['addTarget'] = (ctx, target, toRequest) => {
  const { name, min_severity: minSeverity, types = [], delivery } = target;
  let read: Access | undefined;
  // A plugin that becomes ready before this one may append an event.
  const access = (): Access => (read ??= readAccess(ctx, target));
  ctx.ready(() => {
    access();
    const unknown = types.filter((type) => !EVENT_TYPES.some((known) => known === type));
    if (unknown.length > 0)
      ctx.log.warn({ target: name, types: unknown }, 'svc itself has no events of these types');
  });
  ctx.hooks.notifiers.tap(ctx.name, (notifiers) =>
    notifiers.add({
      name,
      types,
      ...(minSeverity && { minSeverity }),
      ...(delivery && { delivery }),
      send(event, signal) {
        const { headers, body } = toRequest(event);
        return post(access().url, { headers: { ...headers, ...access().headers }, body }, signal);
      },
    }),
  );
};

function readAccess(ctx: PluginContext, { name, url, token }: PushTarget): Access {
  const ofTarget = `of target "${name}"`;
  const text = typeof url === 'string' ? url : readSecret(ctx, `the url ${ofTarget}`, url);
  const bearer = token && readSecret(ctx, `the token ${ofTarget}`, token);
  const refuse = (why: string): never => {
    throw new BootError(`plugin "${ctx.name}": the url ${ofTarget} ${why}`, ctx.name);
  };
  return {
    url: checkUrl(text, refuse),
    headers: { ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }) },
  };
}

function checkUrl(text: string, refuse: (why: string) => never): string {
  const url = URL.canParse(text) ? new URL(text) : refuse('is no address');
  if (!['http:', 'https:'].includes(url.protocol)) refuse('must begin with http:// or https://');
  if (url.username || url.password) refuse('must not hold a password: give a token');
  return url.href;
}
