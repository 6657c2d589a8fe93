import { routes as contract } from '@svc/contract';
import { fail, ok, requireId, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { listDeliveries } from './store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, events: Events): void {
  routes.add(contract.listDeliveries, async ({ query: { limit, before, event_id, ...filter } }) => {
    const event = event_id === undefined ? undefined : await requireEvent(ctx, events, event_id);
    const page = toPage('delivery', { limit, before });
    return ok(await listDeliveries(ctx.db, { ...filter, event_id: event }, page));
  });
}

async function requireEvent({ db }: PluginContext, events: Events, given: string): Promise<string> {
  const id = requireId('event', given);
  return (await events.find(db, id))?.id ?? fail('not_found', `no event "${given}"`);
}
