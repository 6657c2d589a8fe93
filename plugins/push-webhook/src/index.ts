import { pushTargetOptions, SecretRef, strict } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { pushRef } from '@svc/plugin-push';
import { Type } from 'typebox';
import { parseSigningKey, signatureHeaders } from './signature.js';
import { compileTemplate } from './template.js';

const WebhookTarget = strict({
  ...pushTargetOptions,
  secret: Type.Optional(SecretRef),
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
    for (const { secret, template = 'event', ...target } of targets) {
      const what = `target "${target.name}"`;
      const toBody = compileTemplate(ctx.name, what, template);
      let read: Buffer | undefined;
      const toKey = (ref: SecretRef): Buffer =>
        (read ??= parseSigningKey(ctx.name, what, push.readSecret(ctx, `the secret of ${what}`, ref)));
      ctx.ready(() => void (secret && toKey(secret)));
      push.addTarget(ctx, target, (event) => {
        const body = toBody(event);
        const signature = signatureHeaders(secret ? toKey(secret) : null, {
          id: event.id,
          at: ctx.clock.now(),
          body,
        });
        return { headers: { 'Content-Type': 'application/json', ...signature }, body };
      });
    }
  },
});
