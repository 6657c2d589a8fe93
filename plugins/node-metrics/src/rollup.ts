import type { Db, PluginContext } from '@svc/kernel';
import { decodeChunk } from './chunk.js';
import {
  deleteMinutes,
  deleteRaw,
  insertChunk,
  listAged,
  loadChunk,
  storedTimes,
  type ChunkKey,
} from './chunk-store.js';
import { pickSamples, type Samples } from './samples.js';

const CHECK_EVERY_MS = 10 * 60_000;
const MINUTE_MS = 60_000;
/** About two hours of a node, which become one chunk. */
const CHUNKS_AT_ONCE = 24;

/** How long samples are kept, in ms. */
export interface RetentionTimes {
  readonly fullRateMs: number;
  readonly minuteMeansMs: number;
}

/** Makes means of a minute out of what is older than `fullRateMs`, and deletes what is older than `minuteMeansMs`. */
export class Rollup {
  #running: Promise<void> | null = null;

  constructor(
    private readonly ctx: PluginContext,
    private readonly retention: RetentionTimes,
  ) {}

  start(): void {
    const timer = this.ctx.clock.setInterval(() => void this.run(), CHECK_EVERY_MS);
    this.ctx.onClose(async () => {
      timer.clear();
      await this.#running;
    });
  }

  run(): Promise<void> {
    return (this.#running ??= this.#run()
      .catch((err: unknown) =>
        this.ctx.log.error({ err }, 'old node metrics cannot be rolled up; the next check tries again'),
      )
      .finally(() => (this.#running = null)));
  }

  async #run(): Promise<void> {
    const { db, clock, signal } = this.ctx;
    const rawBefore = clock.now() - this.retention.fullRateMs;
    for (;;) {
      const aged = signal.aborted ? [] : await listAged(db, rawBefore, CHUNKS_AT_ONCE);
      const nodeId = aged[0]?.node_id;
      if (nodeId === undefined) break;
      await this.#rollUp(
        nodeId,
        aged.filter(({ node_id }) => node_id === nodeId),
      );
    }
    await deleteMinutes(db, clock.now() - this.retention.minuteMeansMs);
  }

  async #rollUp(nodeId: string, keys: readonly ChunkKey[]): Promise<void> {
    const fromTs = keys.map(({ from_ts }) => from_ts);
    await this.ctx.db.transaction(async (trx) => {
      const chunks: Samples[] = [];
      for (const from of fromTs) {
        const bytes = await loadChunk(trx, nodeId, 'raw', from);
        if (bytes) chunks.push(decodeChunk(bytes, null));
      }
      await this.#insertMeans(trx, nodeId, toMinuteMeans(chunks));
      await deleteRaw(trx, nodeId, fromTs);
    });
  }

  /** A minute that has its mean keeps it: late samples do not change it. */
  async #insertMeans(db: Db, nodeId: string, means: Samples): Promise<void> {
    const [from = 0, to = 0] = [means.ts[0], means.ts.at(-1)];
    const known = await storedTimes(db, nodeId, 'minute', from, to);
    const samples = pickSamples(means, (minute) => !known.has(minute));
    if (samples.ts.length > 0) await insertChunk(db, nodeId, 'minute', samples);
  }
}

/** The mean of each minute of each metric, at the minute's beginning. */
export function toMinuteMeans(chunks: readonly Samples[]): Samples {
  const minutes = [...new Set(chunks.flatMap(({ ts }) => ts.map(toMinute)))].sort((a, b) => a - b);
  const place = new Map(minutes.map((minute, index) => [minute, index]));
  const columns = new Map<string, { sums: Float64Array; counts: Float64Array }>();
  for (const { ts, columns: measured } of chunks) {
    for (const [name, values] of measured) {
      const into = columns.get(name) ?? {
        sums: new Float64Array(minutes.length),
        counts: new Float64Array(minutes.length),
      };
      columns.set(name, into);
      for (let index = 0; index < ts.length; index++) {
        const value = values[index] as number;
        if (Number.isNaN(value)) continue;
        const minute = place.get(toMinute(ts[index] as number)) as number;
        into.sums[minute]! += value;
        into.counts[minute]! += 1;
      }
    }
  }
  const means = [...columns].map(
    ([name, { sums, counts }]) => [name, sums.map((sum, index) => sum / (counts[index] as number))] as const,
  );
  return { ts: minutes, columns: new Map(means) };
}

export const toMinute = (at: number) => Math.floor(at / MINUTE_MS) * MINUTE_MS;
