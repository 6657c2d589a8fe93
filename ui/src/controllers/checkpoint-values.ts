import { fromMetricValue } from '@svc/contract/protocol';
import type { CheckpointEntry, Direction } from '@svc/contract';
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { isAbort, toApiError, type Api, type ApiError } from '../data/api.js';
import { compareCheckpoints, MAX_COMPARED } from '../data/comparison.js';

/** What checkpoints of a list are worth by one metric, as comparisons of the server say it: so many at a time as one takes. */
export class CheckpointValues implements ReactiveController {
  /** null: nothing is asked for. */
  metric: string | null = null;
  /** null until the first answer. */
  direction: Direction | null = null;
  /** Why there are no further values. */
  error: ApiError | null = null;
  readonly #entries = new Map<string, CheckpointEntry>();
  readonly #asked = new Set<string>();
  #best: number | null = null;
  #wanted: readonly string[] = [];
  #work: AbortController | null = null;

  readonly #host: ReactiveControllerHost;
  readonly #api: () => Api;

  constructor(host: ReactiveControllerHost, api: () => Api) {
    this.#host = host;
    this.#api = api;
    host.addController(this);
  }

  hostDisconnected(): void {
    this.refresh();
  }

  /** null: it is not known, or the checkpoint has none. */
  of(id: string): CheckpointEntry | null {
    const entry = this.#entries.get(id);
    return entry && entry.best !== null ? entry : null;
  }

  /** What orders them, the best one first; NaN: it has no value that can be ordered. */
  rankOf(id: string): number {
    const value = toNumber(this.#entries.get(id));
    return this.direction === 'maximize' ? -value : value;
  }

  /** Of those read so far. Several may share the value. */
  isBest(id: string): boolean {
    return this.#best !== null && toNumber(this.#entries.get(id)) === this.#best;
  }

  want(ids: readonly string[]): void {
    this.#wanted = ids;
    if (this.metric !== null && this.#work === null && this.error === null) void this.#read(this.metric);
  }

  /** Something has changed: all are asked for anew, and shown as they were until then. */
  refresh(): void {
    this.#work?.abort();
    this.#work = null;
    this.error = null;
    this.#asked.clear();
  }

  /** Another metric counts, or other checkpoints. */
  reset(metric: string | null): void {
    this.refresh();
    this.metric = metric;
    this.direction = null;
    this.#best = null;
    this.#entries.clear();
  }

  async #read(metric: string): Promise<void> {
    const work = (this.#work = new AbortController());
    try {
      for (let ids = this.#nextIds(); ids.length > 1; ids = this.#nextIds()) {
        const answer = await compareCheckpoints(this.#api(), ids, metric, work.signal);
        if (work.signal.aborted) return;
        this.direction = answer.direction;
        for (const entry of answer.entries) this.#entries.set(entry.checkpoint_id, entry);
        this.#best = this.#findBest();
        this.#host.requestUpdate();
      }
    } catch (error) {
      if (work.signal.aborted || isAbort(error)) return;
      this.error = toApiError(error);
      this.#host.requestUpdate();
    }
    this.#work = null;
  }

  #findBest(): number | null {
    const finite = [...this.#entries.values()].map(toNumber).filter(Number.isFinite);
    const better = this.direction === 'minimize' ? Math.min : Math.max;
    return finite.length === 0 ? null : finite.reduce((best, value) => better(best, value));
  }

  /** A comparison takes two at least: one that is left alone comes with one that is known. */
  #nextIds(): string[] {
    const ids = this.#wanted.filter((id) => !this.#asked.has(id)).slice(0, MAX_COMPARED);
    if (ids.length === 1) ids.push(...this.#wanted.filter((id) => id !== ids[0]).slice(0, 1));
    if (ids.length > 1) for (const id of ids) this.#asked.add(id);
    return ids;
  }
}

function toNumber(entry: CheckpointEntry | undefined): number {
  const best = entry?.best ?? null;
  return best === null ? NaN : fromMetricValue(best);
}
