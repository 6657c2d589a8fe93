import { routes as contract, toId, type EventRecord } from '@svc/contract';
import { fail, ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { EventFeed } from './feed.js';
import { parseFilter } from './filter.js';
import { nameSubjects } from './hooks.js';
import { listEvents } from './store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, feed: EventFeed): void {
  routes.add(contract.listEvents, async ({ query: { limit = 200, before, names, ...filter } }) => {
    const wanted = await parseFilter(ctx, filter);
    const list = await listEvents(ctx.db, wanted, toPage('event', { limit, before }));
    return ok(names ? { ...list, names: await readNames(ctx, list.items) } : list);
  });

  routes.add(contract.streamEvents, async ({ query, headers }) =>
    feed.stream(await parseFilter(ctx, query), parseLastEventId(headers['last-event-id'])),
  );
}

async function readNames(
  { db, fire }: PluginContext,
  events: readonly EventRecord[],
): Promise<Record<string, string>> {
  const ids = events.flatMap(({ run_id, job_id, node_id }) => [run_id, job_id, node_id]);
  const known = await fire(nameSubjects, db, [...new Set(ids.filter((id) => id !== null))]);
  return Object.fromEntries(known.flatMap((names) => [...names]));
}

/** An invalid id is refused, not ignored: a client that cannot resume must know it. */
function parseLastEventId(header: string | string[] | undefined): string | null {
  const given = [header ?? ''].flat()[0] ?? '';
  if (given === '') return null;
  return toId('event', given) ?? fail('not_found', `Last-Event-ID: no event "${given}"`);
}
