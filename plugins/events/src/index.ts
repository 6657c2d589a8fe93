import { definePlugin } from '@svc/kernel';
import { EventFeed } from './feed.js';
import { eventAppended, findSubject, nameSubjects } from './hooks.js';
import { eventsMigrations } from './migrations.js';
import { reportEvent } from './report.js';
import { addRoutes } from './routes.js';
import { eventsRef, type Events } from './service.js';
import { appendEvent, eventsAfter, findEvent, lastPosition, listEvents } from './store.js';

export * from './hooks.js';
export * from './service.js';

export const events = definePlugin({
  name: 'events',
  setup(ctx) {
    const feed = new EventFeed(ctx);
    ctx.migrations(eventsMigrations);
    ctx.owns({
      table: 'events',
      kind: 'event',
      of: { job_id: 'job', run_id: 'run' },
      batched: true,
      datedBy: 'created_at',
    });
    ctx.declare(findSubject);
    ctx.declare(nameSubjects);
    ctx.declare(eventAppended);
    ctx.provide<Events>(eventsRef, {
      append(tx, draft, at = ctx.clock.now()) {
        tx.afterCommit(() => feed.flush());
        return appendEvent(tx, draft, at);
      },
      list: async (db, filter, limit) => (await listEvents(db, filter, { limit })).items,
      find: findEvent,
      after: (db, position, limit) => eventsAfter(db, position, limit),
      lastPosition: (db) => lastPosition(db),
      report: (run, report) => reportEvent(ctx, feed, run, report),
    });
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, feed));
    ctx.ready(() => feed.resume());
    // A server that was killed between a commit and its publication left events behind.
    ctx.listening(() => feed.flush());
    ctx.onClose(() => feed.settled());
  },
});
