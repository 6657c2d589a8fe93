import { yieldIfSliceOver, type Db } from '@svc/kernel';
import { decodeChunk } from './chunk.js';
import { listChunks, loadChunk, type Resolution } from './chunk-store.js';
import type { NodeBuffer } from './node-buffer.js';
import type { Samples } from './samples.js';

export interface MeansQuery {
  readonly names: ReadonlySet<string>;
  /** ms, both inclusive. */
  readonly from: number;
  readonly to: number;
}

/** So many chunks of each resolution are read at most, whatever the length of the time. */
const MOST_CHUNKS = 32;
/** A mean of a minute stands for so many samples at full rate. */
const WEIGHTS: Readonly<Record<Resolution, number>> = { raw: 1, minute: 30 };

export async function readMeans(
  db: Db,
  nodeId: string,
  buffer: NodeBuffer | null,
  query: MeansQuery,
): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, Sum>();
  // First: a chunk that is written during the read would otherwise be read twice, or never.
  const unwritten = new Set(buffer?.samples.ts);
  if (buffer) add(sums, buffer.samples, query, WEIGHTS.raw, new Set());
  for (const resolution of ['minute', 'raw'] as const) {
    for (const fromTs of spread(await listChunks(db, nodeId, resolution, query.from, query.to))) {
      await yieldIfSliceOver();
      const bytes = await loadChunk(db, nodeId, resolution, fromTs);
      if (bytes) add(sums, decodeChunk(bytes, query.names), query, WEIGHTS[resolution], unwritten);
    }
  }
  return new Map([...sums].map(([name, { total, weight }]) => [name, total / weight]));
}

interface Sum {
  total: number;
  weight: number;
}

function add(
  sums: Map<string, Sum>,
  { ts, columns }: Samples,
  { names, from, to }: MeansQuery,
  weight: number,
  except: ReadonlySet<number>,
): void {
  for (const [name, column] of columns) {
    if (!names.has(name)) continue;
    for (let index = 0; index < ts.length; index += 1) {
      const [at, value] = [ts[index] as number, column[index] as number];
      if (Number.isNaN(value) || at < from || at > to || except.has(at)) continue;
      const sum = sums.get(name) ?? { total: 0, weight: 0 };
      sums.set(name, { total: sum.total + weight * value, weight: sum.weight + weight });
    }
  }
}

/** At most MOST_CHUNKS of them, evenly over the whole, with the first and the last. */
function spread(all: readonly number[]): readonly number[] {
  if (all.length <= MOST_CHUNKS) return all;
  const step = (all.length - 1) / (MOST_CHUNKS - 1);
  return Array.from({ length: MOST_CHUNKS }, (_, index) => all[Math.round(index * step)] as number);
}
