import type { AttemptKey } from '@svc/contract';
import type { Clock, PluginContext } from '@svc/kernel';

const WINDOW_MS = 60_000;
/** Far above what an agent needs: it has one for each change of a job whose attempt is not its own, or is not known to be. */
const MAX_LOOKUPS = 2_000;
const MAX_NODES = 10_000;

interface Window {
  readonly since: number;
  /** Refused frames. */
  frames: number;
  /** Queries about attempts that turned out not to be of the node, or that are not answered yet. */
  lookups: number;
}

/** What frames of attempts that are not of their node may cost: one warning for each node and minute, and a bounded number of queries. */
export class RefusedFrames {
  /** By node, oldest window first. */
  readonly #windows = new Map<string, Window>();

  constructor(
    private readonly log: PluginContext['log'],
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Whether one more query may be made for a frame of that node. */
  mayLookUp(nodeId: string): boolean {
    return this.#windowOf(nodeId).lookups < MAX_LOOKUPS;
  }

  /** Counts the query unless it says that the attempt is of that node. */
  async lookUp(nodeId: string, query: () => Promise<string | null>): Promise<string | null> {
    const window = this.#windowOf(nodeId);
    window.lookups += 1;
    const owner = await query();
    if (owner === nodeId) window.lookups -= 1;
    return owner;
  }

  /** `id` of the job as the agent has written it. */
  refused({ job_id, attempt }: AttemptKey, nodeId: string): void {
    const window = this.#windowOf(nodeId);
    window.frames += 1;
    if (window.frames > 1) return;
    this.log.warn(
      { job_id, attempt, node_id: nodeId },
      'log lines of an attempt that is not of that node were refused; more of that node within a minute are counted, not reported',
    );
  }

  #windowOf(nodeId: string): Window {
    const now = this.clock.now();
    const present = this.#windows.get(nodeId);
    if (present && Math.abs(now - present.since) < WINDOW_MS) return present;
    if (present && present.frames > 1)
      this.log.warn({ node_id: nodeId, frames: present.frames }, 'log lines of that node were refused');
    const window = { since: now, frames: 0, lookups: 0 };
    this.#windows.delete(nodeId);
    this.#windows.set(nodeId, window);
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > MAX_NODES && oldest !== undefined) this.#windows.delete(oldest);
    return window;
  }
}
