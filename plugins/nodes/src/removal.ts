import type { NodeRecord } from '@svc/contract';
import { fail, type Db, type PluginContext } from '@svc/kernel';
import type { AgentHub } from './hub.js';
import { deleteNode, getNode, lockNode } from './node-store.js';
import type { RemovalListener } from './service.js';

/** Forgets nodes that are gone for good. */
export class Removal {
  readonly #listeners: RemovalListener[] = [];

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'log'>,
    private readonly hub: AgentHub,
  ) {}

  onRemove(listener: RemovalListener): void {
    this.#listeners.push(listener);
  }

  /** The record as it was. `nodeId` in canonical form. Throws not_found, and conflict while the node is online or has a job. */
  async remove(nodeId: string): Promise<NodeRecord> {
    const removed = await this.hub.whileNotGreeting(nodeId, () =>
      this.ctx.db.transaction((trx) => this.#remove(trx, nodeId)),
    );
    this.ctx.log.info({ node_id: nodeId, name: removed.name }, 'node removed');
    return removed;
  }

  async #remove(trx: Db, nodeId: string): Promise<NodeRecord> {
    await lockNode(trx, nodeId);
    const node = (await getNode(trx, nodeId)) ?? fail('not_found', `no node "${nodeId}"`);
    if (this.hub.connections.get(nodeId))
      fail('conflict', `${node.name} is connected: stop its agent first`, { status: node.status });
    if (node.status === 'ONLINE')
      fail(
        'conflict',
        `${node.name} may come back: wait until it is OFFLINE, or drain it first (on the console's Nodes page, or POST /nodes/${nodeId}/drain)`,
        {
          status: node.status,
        },
      );
    for (const listener of this.#listeners) await listener(trx, node, this.ctx.clock.now());
    await deleteNode(trx, nodeId);
    return node;
  }
}
