import type { NodeRecord } from '@svc/contract';
import { ok, type PluginContext } from '@svc/kernel';
import { nodeFigures, type NodeFigures } from './hooks.js';

/** The records with what other plugins have measured of them. */
export async function withFigures(ctx: PluginContext, nodes: readonly NodeRecord[]): Promise<NodeRecord[]> {
  const parts = await ctx.fire(nodeFigures, nodes);
  return nodes.map((node) => parts.reduce((record, part) => addFigures(record, part.get(node.id)), node));
}

export async function okWithFigures(ctx: PluginContext, node: NodeRecord) {
  const [record] = await withFigures(ctx, [node]);
  return ok(record as NodeRecord);
}

function addFigures(node: NodeRecord, figures: NodeFigures | undefined): NodeRecord {
  if (figures === undefined) return node;
  const slots = node.slots.map((slot) => ({ ...slot, ...figures.slots.get(slot.index) }));
  return { ...node, slots, live: figures.live };
}
