import { definePlugin } from '@svc/kernel';
import { EventFeed } from './feed.js';
import { eventsMigrations } from './migrations.js';
import { addRoutes } from './routes.js';
import { reportEvent } from './report.js';
import { eventsRef } from './service.js';
import { appendEvent, listEvents } from './store.js';

export * from './service.js';
export { eventsMigrations } from './migrations.js';

export const events = definePlugin({
  name: 'events',
  setup(ctx) {
    const feed = new EventFeed(ctx);
    ctx.migrations(eventsMigrations);
    ctx.provide(eventsRef, {
      append: appendEvent,
      list: async (db, filter, limit) => (await listEvents(db, filter, { limit })).items,
      report: (run, report) => reportEvent(ctx, feed, run, report),
      publish: (records) => (records.length === 0 ? Promise.resolve() : feed.flush()),
    });
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, feed));
    ctx.ready(() => feed.resume());
    // A server that was killed between a commit and its publication left events behind.
    ctx.listening(() => feed.flush());
    ctx.onClose(() => feed.settled());
  },
});
