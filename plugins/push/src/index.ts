import type { EventRecord, Notifier } from '@svc/contract';
import { definePlugin, type PluginContext } from '@svc/kernel';
import { eventAppended, eventsRef } from '@svc/plugin-events';
import { BestEffortQueue } from './best-effort-queue.js';
import { pushMigrations } from './migrations.js';
import { pushOptions } from './options.js';
import { Outbox } from './outbox.js';
import { addRoutes } from './routes.js';
import { readSecret } from './secret.js';
import { pushRef } from './service.js';
import { deleteFinished, endOthers } from './store.js';
import { addTarget } from './target.js';
import { isWanted } from './wanted.js';

export * from './service.js';

const HOUR_MS = 60 * 60_000;
const CLEAN_UP_MS = HOUR_MS;
const MOST_FINISHED = 100_000;

/** Tells the targets that other plugins register of events. */
export const push = definePlugin({
  name: 'push',
  requires: ['events'],
  options: pushOptions,
  setup(ctx, { give_up_after_h, keep_deliveries_d }) {
    const events = ctx.use(eventsRef);
    const queues: { notifier: Notifier; queue: BestEffortQueue }[] = [];
    const outboxes: Outbox[] = [];
    const tell = (event: EventRecord): void => {
      for (const { notifier, queue } of queues) if (isWanted(notifier, event)) queue.add(event);
      for (const outbox of outboxes) outbox.wake();
    };
    ctx.migrations(pushMigrations);
    ctx.owns({ table: 'push_deliveries', kind: 'delivery', of: { event_id: 'event' }, batched: true });
    ctx.owns({ table: 'push_cursors', key: ['target'] });
    ctx.provide(pushRef, { addTarget, readSecret });
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, events));
    ctx.tap(eventAppended, tell);
    ctx.ready(async () => {
      const notifiers = [...ctx.registered.notifiers.values()];
      const stored = notifiers.filter(({ delivery }) => delivery === 'at-least-once');
      for (const notifier of notifiers.filter((each) => !stored.includes(each)))
        queues.push({ notifier, queue: new BestEffortQueue(ctx, notifier) });
      for (const notifier of stored)
        outboxes.push(new Outbox(ctx, events, notifier, give_up_after_h * HOUR_MS));
      await endOthers(
        ctx.db,
        stored.map(({ name }) => name),
        ctx.clock.now(),
      );
      for (const outbox of outboxes) await outbox.start();
    });
    ctx.listening(() => {
      for (const outbox of outboxes) outbox.wake();
    });
    cleanUpEachHour(ctx, keep_deliveries_d * 24 * HOUR_MS);
    ctx.onClose(async () => {
      await Promise.all([...queues.map(({ queue }) => queue), ...outboxes].map((each) => each.settled()));
    });
  },
});

function cleanUpEachHour(ctx: PluginContext, keepMs: number): void {
  let cleaning: Promise<void> = Promise.resolve();
  const cleanUp = (): void => {
    cleaning = deleteFinished(ctx.db, ctx.clock.now() - keepMs, MOST_FINISHED).catch((err: unknown) =>
      ctx.log.warn({ err }, 'cannot remove old deliveries'),
    );
  };
  ctx.listening(() => {
    cleanUp();
    const timer = ctx.clock.setInterval(cleanUp, CLEAN_UP_MS);
    ctx.onClose(() => {
      timer.clear();
      return cleaning;
    });
  });
}
