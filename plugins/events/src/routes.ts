import { routes as contract, toId } from '@svc/contract';
import { created, fail, ok, serviceRef, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import type { EventFeed } from './feed.js';
import { parseFilter } from './filter.js';
import { parseKey, refuseOther, reportEvent } from './report.js';
import { listEvents } from './store.js';

/** By name: the runs plugin requires this one, so it is there only when requests come. */
const runsRef = serviceRef<Runs>('runs');

export function addRoutes(routes: RouteCollector, ctx: PluginContext, feed: EventFeed): void {
  routes.add(contract.listEvents, async ({ query: { limit = 200, before, ...filter } }) =>
    ok(await listEvents(ctx.db, await parseFilter(ctx, filter), toPage('event', { limit, before }))),
  );

  routes.add(contract.streamEvents, async ({ query, headers }) =>
    feed.stream(await parseFilter(ctx, query), parseLastEventId(headers['last-event-id'])),
  );

  routes.add(contract.createEvent, async ({ params, body, caller, headers }) => {
    const key = parseKey(headers['idempotency-key']);
    const run = await ctx.use(runsRef).requireIngest(caller, params.run_id);
    const { event, isNew } = await reportEvent(ctx, feed, run, { body, key });
    if (isNew) return created(event);
    refuseOther(event, body);
    return ok(event);
  });
}

/** Refused rather than ignored: a client that cannot resume must not believe that it has. */
function parseLastEventId(header: string | string[] | undefined): string | null {
  const given = [header ?? ''].flat()[0] ?? '';
  if (given === '') return null;
  return toId('event', given) ?? fail('not_found', `Last-Event-ID: no event "${given}"`);
}
