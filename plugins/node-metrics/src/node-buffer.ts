import type { GpuProcess, NodeMetricsFrame } from '@svc/contract';
import type { Samples } from './samples.js';

const MINUTE_MS = 60_000;
/** How long an agent keeps unacknowledged samples: an older sample cannot be a repetition. */
const LONGEST_REPLAY_MS = 3_600_000;
const MAX_METRICS = 2_000;

/** The samples of a node that are not stored yet. */
export class NodeBuffer {
  processes: readonly GpuProcess[] = [];
  /** When the last frame came, by the server's clock. */
  heardAt = -Infinity;
  /** When the oldest sample that is not stored came, by the server's clock; null when the buffer is empty. */
  waitingSince: number | null = null;
  readonly latest = new Map<string, { readonly value: number; readonly ts: number }>();
  #ts: number[] = [];
  #columns = new Map<string, number[]>();

  /** `newest`: time of the newest sample that was taken. */
  constructor(public newest: number | null) {}

  get samples(): Samples {
    return { ts: this.#ts, columns: this.#columns };
  }

  /** Returns the samples that are new. */
  add({ ts, values, processes }: NodeMetricsFrame, now: number): Samples {
    this.heardAt = now;
    this.processes = processes.map((process) => ({ ...process, user: process.user ?? null }));
    const isNew = ts.map((at) => this.#isNew(at));
    const fresh = ts.filter((_, index) => isNew[index]);
    const columns = new Map<string, number[]>();
    if (fresh.length === 0) return { ts: fresh, columns };
    const before = this.#ts.length;
    this.#ts.push(...fresh);
    for (const [name, column] of Object.entries(values)) {
      const into = this.#column(name, before);
      if (into === null) continue;
      const kept = column.filter((_, index) => isNew[index]).map((value) => value ?? NaN);
      into.push(...kept);
      columns.set(name, kept);
      const last = kept.findLastIndex((value) => !Number.isNaN(value));
      if (last >= 0) this.latest.set(name, { value: kept[last] as number, ts: fresh[last] as number });
    }
    for (const column of this.#columns.values()) while (column.length < this.#ts.length) column.push(NaN);
    this.newest = fresh.at(-1) as number;
    this.waitingSince ??= now;
    return { ts: fresh, columns };
  }

  /** The samples of full minutes, or all of them, still held until `drop`. Empty when there are none. */
  full(all: boolean): Samples {
    const end = Math.floor((this.newest ?? 0) / MINUTE_MS) * MINUTE_MS;
    const count = all ? this.#ts.length : this.#ts.findIndex((at) => at >= end);
    return slice(this.samples, 0, count < 0 ? this.#ts.length : count);
  }

  /** Removes the first `count` samples, which are stored. */
  drop(count: number, now: number): void {
    const rest = slice(this.samples, count, this.#ts.length);
    this.#ts = [...rest.ts];
    this.#columns = new Map([...rest.columns].map(([name, values]) => [name, Array.from(values)]));
    this.waitingSince = this.#ts.length === 0 ? null : now;
  }

  #isNew(at: number): boolean {
    return this.newest === null || at > this.newest || at < this.newest - LONGEST_REPLAY_MS;
  }

  #column(name: string, length: number): number[] | null {
    const known = this.#columns.get(name);
    if (known) return known;
    if (this.#columns.size >= MAX_METRICS) return null;
    const column = new Array<number>(length).fill(NaN);
    this.#columns.set(name, column);
    return column;
  }
}

/** A metric without values in that range is left out. */
function slice({ ts, columns }: Samples, from: number, to: number): Samples {
  const parts = [...columns].map(([name, values]) => [name, Array.from(values).slice(from, to)] as const);
  return {
    ts: ts.slice(from, to),
    columns: new Map(parts.filter(([, values]) => values.some((value) => !Number.isNaN(value)))),
  };
}
