import { pushTargetOptions, SecretRef, strict } from '@svc/contract';
import { BootError, definePlugin } from '@svc/kernel';
import { pushRef } from '@svc/plugin-push';
import { Type } from 'typebox';
import { parseSigningKey, signatureHeaders } from './signature.js';
import { compileTemplate } from './template.js';

const WebhookTarget = strict({
  ...pushTargetOptions,
  secret: Type.Optional(SecretRef),
  previous_secret: Type.Optional(SecretRef),
  template: Type.Optional(
    Type.Union([
      Type.Enum(['event', 'slack']),
      Type.Record(Type.String(), Type.Unknown(), { description: 'an object with {{title}} and the like' }),
    ]),
  ),
});

/** Tells HTTP endpoints of events, as JSON. */
export const pushWebhook = definePlugin({
  name: 'push-webhook',
  requires: ['push'],
  options: strict({ targets: Type.Array(WebhookTarget, { default: [] }) }),
  setup(ctx, { targets }) {
    const push = ctx.use(pushRef);
    for (const { secret, previous_secret: previous, template = 'event', ...target } of targets) {
      const what = `target "${target.name}"`;
      if (previous && !secret)
        throw new BootError(`plugin "${ctx.name}": ${what} has a previous_secret but no secret`, ctx.name);
      const toBody = compileTemplate(ctx.name, what, template);
      const readKey = (name: string, ref: SecretRef): Buffer =>
        parseSigningKey(
          ctx.name,
          `the ${name} of ${what}`,
          push.readSecret(ctx, `the ${name} of ${what}`, ref),
        );
      let read: readonly Buffer[] | undefined;
      const keys = (): readonly Buffer[] =>
        (read ??= [
          ...(secret ? [readKey('secret', secret)] : []),
          ...(previous ? [readKey('previous_secret', previous)] : []),
        ]);
      ctx.ready(() => void keys());
      push.addTarget(ctx, target, (event) => {
        const body = toBody(event);
        const signature = signatureHeaders(keys(), { id: event.id, at: ctx.clock.now(), body });
        return { headers: { 'Content-Type': 'application/json', ...signature }, body };
      });
    }
  },
});
