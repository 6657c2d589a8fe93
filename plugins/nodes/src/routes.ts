import { AGENT_SOCKET_PATH, routes as contract, type NodeRecord } from '@svc/contract';
import { ok, requireId, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import { okWithFigures, withFigures } from './figures.js';
import { nodeChanged } from './hooks.js';
import type { AgentHub } from './hub.js';
import { listNodes, requireNode, setDraining } from './node-store.js';
import type { Removal } from './removal.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, hub: AgentHub, removal: Removal): void {
  routes.upgrade(AGENT_SOCKET_PATH, 'agent', (socket, _caller, request) => hub.open(socket, request.socket));
  routes.add(contract.listNodes, async ({ query }) => {
    const { items, ...rest } = await listNodes(ctx.db, toPage('node', query));
    return ok({ items: await withFigures(ctx, items), ...rest });
  });
  routes.add(contract.getNode, async ({ params }) =>
    okWithFigures(ctx, await requireNode(ctx.db, params.node_id)),
  );
  routes.add(contract.drainNode, async ({ params }) =>
    okWithFigures(ctx, await drain(ctx, params.node_id, true)),
  );
  routes.add(contract.undrainNode, async ({ params }) =>
    okWithFigures(ctx, await drain(ctx, params.node_id, false)),
  );
  routes.add(contract.removeNode, async ({ params }) =>
    ok(await removal.remove(requireId('node', params.node_id))),
  );
}

async function drain(ctx: PluginContext, nodeId: string, draining: boolean): Promise<NodeRecord> {
  const before = await requireNode(ctx.db, nodeId);
  await setDraining(ctx.db, before.id, draining);
  const after = await requireNode(ctx.db, before.id);
  await ctx.fire(nodeChanged, { before, after });
  return after;
}
