import { routes as contract, type NodeRecord } from '@svc/contract';
import { ok, toPage, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { AgentHub } from './hub.js';
import { listNodes, requireNode, setDraining } from './node-store.js';

export function addRoutes(routes: RouteCollector, ctx: PluginContext, hub: AgentHub): void {
  routes.upgrade('/agent/ws', 'agent', (socket) => hub.open(socket));
  routes.add(contract.listNodes, async ({ query }) => ok(await listNodes(ctx.db, toPage('node', query))));
  routes.add(contract.getNode, async ({ params }) => ok(await requireNode(ctx.db, params.node_id)));
  routes.add(contract.drainNode, async ({ params }) => ok(await drain(ctx, params.node_id, true)));
  routes.add(contract.undrainNode, async ({ params }) => ok(await drain(ctx, params.node_id, false)));
}

async function drain(ctx: PluginContext, nodeId: string, draining: boolean): Promise<NodeRecord> {
  const before = await requireNode(ctx.db, nodeId);
  await setDraining(ctx.db, before.id, draining);
  const after = await requireNode(ctx.db, before.id);
  await ctx.fire.nodeChanged({ before, after });
  return after;
}
