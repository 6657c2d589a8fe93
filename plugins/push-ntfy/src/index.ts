import { pushTargetOptions, strict } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { pushRef } from '@svc/plugin-push';
import { Type } from 'typebox';
import { toPublish } from './to-publish.js';

/** Tells topics of ntfy servers of events. */
export const pushNtfy = definePlugin({
  name: 'push-ntfy',
  requires: ['push'],
  options: strict({ targets: Type.Array(strict(pushTargetOptions), { default: [] }) }),
  setup(ctx, { targets }) {
    for (const target of targets) ctx.use(pushRef).addTarget(ctx, target, toPublish);
  },
});
