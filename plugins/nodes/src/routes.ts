import { AGENT_SOCKET_PATH, routes as contract, type NodeRecord } from '@svc/contract';
import { ok, requireId, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import { nodeChanged } from './hooks.js';
import type { AgentHub } from './hub.js';
import { listNodes, requireNode, setDraining } from './node-store.js';
import type { Removal } from './removal.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, hub: AgentHub, removal: Removal): void {
  routes.upgrade(AGENT_SOCKET_PATH, 'agent', (socket, _caller, request) => hub.open(socket, request.socket));
  routes.add(contract.listNodes, async ({ query }) => ok(await listNodes(ctx.db, toPage('node', query))));
  routes.add(contract.getNode, async ({ params }) => ok(await requireNode(ctx.db, params.node_id)));
  routes.add(contract.drainNode, async ({ params }) => ok(await drain(ctx, params.node_id, true)));
  routes.add(contract.undrainNode, async ({ params }) => ok(await drain(ctx, params.node_id, false)));
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
