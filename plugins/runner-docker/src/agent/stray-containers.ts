import { attemptKey } from '@svc/agent';
import { within } from '@svc/agent/within';
import type { AttemptKey } from '@svc/contract';
import { LABELS } from './container-config.js';
import { isRefusal, type Engine } from './engine.js';

/** An engine that was stopped by a signal goes on with old questions; they are done by then. */
const LOOKS = 3;
const REMOVAL_MS = 10_000;

/** Containers of this node that nobody manages, by their labels. */
export class StrayContainers {
  readonly #engine: Engine;
  /** Attempts that this agent has started or found. */
  readonly #managed = new Set<string>();
  /** Of this agent, which it manages no more: how often they are looked for yet. */
  readonly #dropped = new Map<string, { readonly nodeId: string; looks: number }>();
  /** Could not be done, as there was no engine. */
  #pending: (() => Promise<void>) | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Must be called before there is a container of the attempt. */
  keep(key: string): void {
    this.#managed.add(key);
    this.#dropped.delete(key);
  }

  /** Removes the containers of an attempt that was not started, now and with the next probes: an engine that was away may have created one without an answer. */
  async drop(attempt: AttemptKey, nodeId: string): Promise<void> {
    this.#dropped.set(attemptKey(attempt), { nodeId, looks: LOOKS });
    await within(this.reapPending(), REMOVAL_MS);
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
    for (const [key, dropped] of this.#dropped) {
      await this.#removeIf((other) => other === key, dropped.nodeId);
      dropped.looks -= 1;
      if (dropped.looks === 0) this.#dropped.delete(key);
    }
  }

  #remove(keep: ReadonlySet<string>, nodeId: string): Promise<void> {
    return this.#removeIf((key) => !keep.has(key) && !this.#managed.has(key), nodeId);
  }

  async #removeIf(isUnwanted: (key: string) => boolean, nodeId: string): Promise<void> {
    for (const { Id, Labels } of await this.#engine.listLabelled(LABELS.node, nodeId)) {
      const { [LABELS.job]: job_id = '', [LABELS.attempt]: attempt } = Labels ?? {};
      const key = attemptKey({ job_id, attempt: Number(attempt) });
      if (!isUnwanted(key)) continue;
      const client = await this.#engine.client();
      await client.getContainer(Id).remove({ force: true, v: true }).catch(unlessRefused);
    }
  }
}

/** It is gone, or is being removed. */
function unlessRefused(error: unknown): void {
  if (!isRefusal(error)) throw error;
}
