import type { PluginContext } from '@svc/kernel';
import { nodeChanged } from './hooks.js';
import type { AgentHub } from './hub.js';
import { getNode, listOnline, setOffline, type OnlineNode } from './node-store.js';

const LONGEST_CHECK_MS = 5000;
/** So many checks fit into the silence that makes a node OFFLINE, at least. */
const CHECKS_PER_SILENCE = 5;
/** A check so many intervals late says that the server stood still or the clock jumped: silence since then proves nothing. */
const STANDSTILL_CHECKS = 3;

/**
 * Finds the nodes that have been silent for too long. Silence counts from the last frame, and never from before this
 * server began to listen: after a restart, a standstill or a jump of the clock every node has the whole time again.
 */
export class Liveness {
  #listeningSince: number;
  #checkedAt: number;
  /** Online nodes that this server has not heard of yet since its start. */
  readonly #awaited = new Set<string>();
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
    for (const { id } of await listOnline(this.ctx.db)) this.#awaited.add(id);
    const timer = this.ctx.clock.setInterval(() => this.#tick(), this.#checkEveryMs);
    this.ctx.onClose(() => {
      timer.clear();
      return this.#check ?? undefined;
    });
  }

  #tick(): void {
    this.#noteStandstill(this.ctx.clock.now());
    this.#check ??= this.#markSilent()
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

  async #markSilent(): Promise<void> {
    for (const row of await listOnline(this.ctx.db)) {
      if (this.hub.connections.get(row.id)) this.#awaited.delete(row.id);
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
    this.hub.connections.get(row.id)?.cut(reason);
    const after = await getNode(db, row.id);
    if (!after) return;
    if (this.#awaited.delete(row.id))
      await this.hub.reportDisconnected(after, `It did not come back after the server's start: ${reason}`);
    await fire(nodeChanged, { before, after });
  }
}
