import { SilenceWatch, type PluginContext } from '@svc/kernel';
import type { DisconnectNotices } from './disconnect-notices.js';
import { nodeChanged } from './hooks.js';
import type { AgentHub } from './hub.js';
import { getNode, listOnline, setOffline, type OnlineNode } from './node-store.js';

const LONGEST_CHECK_MS = 5000;
/** How many checks there are at least within the silence that makes a node OFFLINE. */
const CHECKS_PER_SILENCE = 5;

/**
 * Marks nodes OFFLINE that have been silent for too long. Silence is measured from the last frame, but not from before this server began
 * to listen: after a restart, a hang or a jump of the clock every node has the whole time again.
 */
export class Liveness {
  readonly #watch: SilenceWatch;
  /** Online nodes that have not connected since the start of this server. */
  readonly #notSeenYet = new Set<string>();

  constructor(
    private readonly ctx: PluginContext,
    private readonly hub: AgentHub,
    private readonly notices: DisconnectNotices,
    private readonly offlineAfterMs: number,
  ) {
    const everyMs = Math.min(LONGEST_CHECK_MS, offlineAfterMs / CHECKS_PER_SILENCE);
    this.#watch = new SilenceWatch(ctx, {
      subject: 'nodes',
      everyMs,
      check: () => this.#markSilentOffline(),
    });
  }

  async start(): Promise<void> {
    for (const { id } of await listOnline(this.ctx.db)) this.#notSeenYet.add(id);
    this.#watch.start();
    this.ctx.onClose(() => this.#watch.close());
  }

  async #markSilentOffline(): Promise<void> {
    for (const row of await listOnline(this.ctx.db)) {
      if (this.hub.connections.get(row.id)) this.#notSeenYet.delete(row.id);
      if (this.ctx.clock.now() - this.#lastSign(row) >= this.offlineAfterMs) await this.#markOffline(row);
    }
  }

  #lastSign(row: OnlineNode): number {
    const seenAt = this.hub.connections.get(row.id)?.lastSeenAt ?? row.last_heartbeat_at;
    return Math.max(this.#watch.listeningSince, Math.min(seenAt, this.ctx.clock.now()));
  }

  async #markOffline(row: OnlineNode): Promise<void> {
    const { db, clock, log, fire } = this.ctx;
    const before = await getNode(db, row.id);
    if (!(await setOffline(db, row, clock.now()))) return;
    const reason = `no heartbeat for ${Math.round(this.offlineAfterMs / 1000)} s`;
    log.warn({ node_id: row.id }, `node is OFFLINE: ${reason}`);
    this.hub.connections.get(row.id)?.terminate(reason);
    const after = await getNode(db, row.id);
    if (!after) return;
    if (this.#notSeenYet.delete(row.id))
      await this.notices.add(after, `It did not come back after the server's start: ${reason}`);
    await fire(nodeChanged, { before, after });
  }
}
