import { attemptKey } from '@svc/agent';
import { LABELS } from './container-config.js';
import { isRefusal, type Engine } from './engine.js';

/** Containers of this node that nobody manages, by their labels. */
export class StrayContainers {
  readonly #engine: Engine;
  /** Attempts that this agent has started or found. */
  readonly #managed = new Set<string>();
  /** Could not be done, as there was no engine. */
  #pending: (() => Promise<void>) | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Must be called before there is a container of the attempt. */
  keep(key: string): void {
    this.#managed.add(key);
  }

  /** Removes each one whose attempt is not to be kept, with its processes; where there is no engine now, `reapPending` does it. */
  async reap(keep: ReadonlySet<string>, nodeId: string): Promise<void> {
    this.#pending = () => this.#remove(keep, nodeId);
    await this.reapPending().catch(() => {});
  }

  /** Must hold: what was started since it was asked for is kept. */
  async reapPending(): Promise<void> {
    await this.#pending?.();
    this.#pending = null;
  }

  async #remove(keep: ReadonlySet<string>, nodeId: string): Promise<void> {
    for (const { Id, Labels } of await this.#engine.listLabelled(LABELS.node, nodeId)) {
      const { [LABELS.job]: job_id = '', [LABELS.attempt]: attempt } = Labels ?? {};
      const key = attemptKey({ job_id, attempt: Number(attempt) });
      if (keep.has(key) || this.#managed.has(key)) continue;
      const client = await this.#engine.client();
      await client.getContainer(Id).remove({ force: true, v: true }).catch(unlessRefused);
    }
  }
}

/** It is gone, or is being removed. */
function unlessRefused(error: unknown): void {
  if (!isRefusal(error)) throw error;
}
