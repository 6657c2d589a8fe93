import type { NodeRecord } from '@svc/contract';
import { fail, type PluginContext, type Tx } from '@svc/kernel';
import { nodeRemove } from './hooks.js';
import type { AgentHub } from './hub.js';
import { deleteNode, getNode, lockNode } from './node-store.js';

/** Removes nodes that will not come back. */
export class Removal {
  constructor(
    private readonly ctx: Pick<PluginContext, 'clock' | 'fire' | 'log' | 'transaction'>,
    private readonly hub: AgentHub,
  ) {}

  /** Returns the removed record. `nodeId` in canonical form. Throws not_found, and conflict while the node is online or has a job. */
  async remove(nodeId: string): Promise<NodeRecord> {
    const removed = await this.hub.whileNoHello(nodeId, () =>
      this.ctx.transaction((tx) => this.#remove(tx, nodeId)),
    );
    this.ctx.log.info({ node_id: nodeId, name: removed.name }, 'node removed');
    return removed;
  }

  async #remove(tx: Tx, nodeId: string): Promise<NodeRecord> {
    await lockNode(tx, nodeId);
    const node = (await getNode(tx, nodeId)) ?? fail('not_found', `no node "${nodeId}"`);
    if (this.hub.connections.get(nodeId))
      fail('conflict', `${node.name} is connected: stop its agent first`, { status: node.status });
    if (node.status === 'ONLINE')
      fail(
        'conflict',
        `${node.name} may come back: wait until it is OFFLINE, or drain it first (svc drain ${nodeId}, the console's Nodes page, or POST /nodes/${nodeId}/drain)`,
        {
          status: node.status,
        },
      );
    await this.ctx.fire(nodeRemove, tx, node, this.ctx.clock.now());
    await deleteNode(tx, nodeId);
    return node;
  }
}
