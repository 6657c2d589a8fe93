import { routes as contract, toId } from '@svc/contract';
import { fail, ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { EventFeed } from './feed.js';
import { parseFilter } from './filter.js';
import { listEvents } from './store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, feed: EventFeed): void {
  routes.add(contract.listEvents, async ({ query: { limit = 200, before, ...filter } }) =>
    ok(await listEvents(ctx.db, await parseFilter(ctx, filter), toPage('event', { limit, before }))),
  );

  routes.add(contract.streamEvents, async ({ query, headers }) =>
    feed.stream(await parseFilter(ctx, query), parseLastEventId(headers['last-event-id'])),
  );
}

/** An invalid id is refused, not ignored: a client that cannot resume must know it. */
function parseLastEventId(header: string | string[] | undefined): string | null {
  const given = [header ?? ''].flat()[0] ?? '';
  if (given === '') return null;
  return toId('event', given) ?? fail('not_found', `Last-Event-ID: no event "${given}"`);
}
