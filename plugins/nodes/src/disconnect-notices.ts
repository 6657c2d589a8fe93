import type { PluginContext, Timer } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { getNode } from './node-store.js';

/** The ends of so many connections of a node are told at once, and then one event in that time tells of all. */
const MAX_AT_ONCE = 5;
const EVERY_MS = 10 * 60_000;

interface Disconnects {
  name: string;
  /** How many may be told at once, as of `countedAt`. */
  room: number;
  countedAt: number;
  untold: number;
  reason: string;
  timer: Timer | null;
}

/** Tells that agents have disconnected. An agent that comes and goes is no flood of events, and no end of it stays untold. */
export class DisconnectNotices {
  readonly #byNode = new Map<string, Disconnects>();

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'log' | 'transaction'>,
    private readonly events: Events,
  ) {}

  async add({ id, name }: { readonly id: string; readonly name: string }, reason: string): Promise<void> {
    const of = this.#refill(id);
    Object.assign(of, { name, reason, untold: of.untold + 1 });
    if (of.timer) return;
    if (of.room >= 1) return this.#tell(id, of);
    of.timer = this.ctx.clock.setTimeout(() => void this.#tellLater(id), (1 - of.room) * EVERY_MS);
  }

  close(): void {
    for (const { timer } of this.#byNode.values()) timer?.clear();
  }

  /** Who has been quiet for long is forgotten. */
  #refill(id: string): Disconnects {
    const now = this.ctx.clock.now();
    for (const [other, of] of this.#byNode) {
      const passedMs = Math.max(0, now - of.countedAt);
      Object.assign(of, { room: Math.min(MAX_AT_ONCE, of.room + passedMs / EVERY_MS), countedAt: now });
      if (of.room === MAX_AT_ONCE && of.timer === null) this.#byNode.delete(other);
    }
    const empty = { name: '', reason: '', untold: 0, timer: null };
    const of = this.#byNode.get(id) ?? { ...empty, room: MAX_AT_ONCE, countedAt: now };
    this.#byNode.set(id, of);
    return of;
  }

  async #tellLater(id: string): Promise<void> {
    try {
      const of = this.#refill(id);
      of.timer = null;
      if (await getNode(this.ctx.db, id)) await this.#tell(id, of);
    } catch (err) {
      this.ctx.log.error({ err, node_id: id }, 'the ends of agent connections could not be stored');
    }
  }

  async #tell(id: string, of: Disconnects): Promise<void> {
    const { name, reason, untold } = of;
    const times = untold === 1 ? '' : ` ${untold} times`;
    const last = untold === 1 ? '' : 'The last time: ';
    of.untold = 0;
    of.room -= 1;
    await this.ctx.transaction((tx) =>
      this.events.append(tx, {
        type: 'AGENT_DISCONNECTED',
        severity: 'warning',
        title: `Agent ${name} disconnected${times}`,
        message: `${last}${reason}. What runs there goes on; the agent reports it when it is back.`,
        node_id: id,
        data: { reason, times: untold },
      }),
    );
  }
}
