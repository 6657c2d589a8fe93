import type { PluginContext } from '@svc/kernel';
import { nodeChanged } from './hooks.js';
import type { AgentHub } from './hub.js';
import { getNode, listOnline, setOffline, type OnlineNode } from './node-store.js';

const LONGEST_CHECK_MS = 5000;
/** How many checks there are at least within the silence that makes a node OFFLINE. */
const CHECKS_PER_SILENCE = 5;
/** A check that is more intervals late than this means that the server hung or the clock jumped: then silence proves nothing. */
const STANDSTILL_CHECKS = 3;

/**
 * Marks nodes OFFLINE that have been silent for too long. Silence is measured from the last frame, but not from before this server began
 * to listen: after a restart, a hang or a jump of the clock every node has the whole time again.
 */
export class Liveness {
  #listeningSince: number;
  #checkedAt: number;
  /** Online nodes that have not connected since the start of this server. */
  readonly #notSeenYet = new Set<string>();
  #check: Promise<void> | null = null;
  readonly #checkEveryMs: number;

  constructor(
    private readonly ctx: PluginContext,
    private readonly hub: AgentHub,
    private readonly offlineAfterMs: number,
  ) {
    this.#listeningSince = this.#checkedAt = ctx.clock.now();
    this.#checkEveryMs = Math.min(LONGEST_CHECK_MS, offlineAfterMs / CHECKS_PER_SILENCE);
  }

  async start(): Promise<void> {
    this.#listeningSince = this.#checkedAt = this.ctx.clock.now();
    for (const { id } of await listOnline(this.ctx.db)) this.#notSeenYet.add(id);
    const timer = this.ctx.clock.setInterval(() => this.#tick(), this.#checkEveryMs);
    this.ctx.onClose(() => {
      timer.clear();
      return this.#check ?? undefined;
    });
  }

  #tick(): void {
    this.#noteStandstill(this.ctx.clock.now());
    this.#check ??= this.#markSilentOffline()
      .catch((err: unknown) =>
        this.ctx.log.error({ err }, 'the check for silent nodes failed; the next one repeats it'),
      )
      .finally(() => (this.#check = null));
  }

  #noteStandstill(now: number): void {
    const sinceLastCheck = now - this.#checkedAt;
    if (sinceLastCheck > STANDSTILL_CHECKS * this.#checkEveryMs || sinceLastCheck < 0)
      this.#listeningSince = now;
    this.#checkedAt = now;
  }

  async #markSilentOffline(): Promise<void> {
    for (const row of await listOnline(this.ctx.db)) {
      if (this.hub.connections.get(row.id)) this.#notSeenYet.delete(row.id);
      if (this.ctx.clock.now() - this.#lastSign(row) >= this.offlineAfterMs) await this.#markOffline(row);
    }
  }

  #lastSign(row: OnlineNode): number {
    const seenAt = this.hub.connections.get(row.id)?.lastSeenAt ?? row.last_heartbeat_at;
    return Math.max(this.#listeningSince, Math.min(seenAt, this.ctx.clock.now()));
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
      await this.hub.reportDisconnected(after, `It did not come back after the server's start: ${reason}`);
    await fire(nodeChanged, { before, after });
  }
}
