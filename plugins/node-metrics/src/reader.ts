import type { NodeSeries } from '@svc/contract';
import { yieldIfSliceOver, type Db } from '@svc/kernel';
import { decodeChunk } from './chunk.js';
import { listChunks, loadChunk, type Resolution } from './chunk-store.js';
import type { NodeBuffer } from './node-buffer.js';
import type { MetricNames } from './service.js';
import type { Samples, TimedValues } from './samples.js';
import { toThinned } from './thin.js';

export interface SeriesQuery {
  /** null: every metric. */
  readonly names: MetricNames | null;
  /** Samples from then on until then, ms, both inclusive. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/** The series of one node by name; a metric that was not measured then is left out. */
export async function readSeries(
  db: Db,
  nodeId: string,
  buffer: NodeBuffer | null,
  { names, from, to, limit }: SeriesQuery,
): Promise<Record<string, NodeSeries>> {
  const gathered = new Map<string, TimedValues>();
  // Copied first: a chunk that is written during the read would otherwise be read twice, or never.
  const unwritten = buffer === null ? null : copy(buffer.samples, names);
  const except = new Set(unwritten?.ts);
  for (const resolution of ['minute', 'raw'] as const)
    await gatherStored(db, nodeId, resolution, { names, from, to, except }, gathered);
  if (unwritten) gather(gathered, unwritten, { from, to, except: new Set() });
  const series = [...gathered].map(([name, values]) => [name, toThinned(inOrder(values), limit)] as const);
  return Object.fromEntries(series.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Choice {
  readonly from: number;
  readonly to: number;
  /** Times of samples that are read elsewhere. */
  readonly except: ReadonlySet<number>;
}

async function gatherStored(
  db: Db,
  nodeId: string,
  resolution: Resolution,
  { names, ...choice }: Choice & Pick<SeriesQuery, 'names'>,
  gathered: Map<string, TimedValues>,
): Promise<void> {
  for (const fromTs of await listChunks(db, nodeId, resolution, choice.from, choice.to)) {
    await yieldIfSliceOver();
    const bytes = await loadChunk(db, nodeId, resolution, fromTs);
    if (bytes) gather(gathered, decodeChunk(bytes, names), choice);
  }
}

function gather(
  gathered: Map<string, TimedValues>,
  { ts, columns }: Samples,
  { from, to, except }: Choice,
): void {
  for (const [name, column] of columns) {
    const into = gathered.get(name) ?? { ts: [], values: [] };
    gathered.set(name, into);
    for (let index = 0; index < ts.length; index++) {
      const at = ts[index] as number;
      const value = column[index] as number;
      if (Number.isNaN(value) || at < from || at > to || except.has(at)) continue;
      into.ts.push(at);
      into.values.push(value);
    }
  }
}

/** Sorts by time, as chunks of late samples may overlap the others. */
function inOrder({ ts, values }: TimedValues): TimedValues {
  if (ts.every((at, index) => index === 0 || at >= (ts[index - 1] as number))) return { ts, values };
  const places = ts.map((_, index) => index).sort((a, b) => (ts[a] as number) - (ts[b] as number));
  return {
    ts: places.map((place) => ts[place] as number),
    values: places.map((place) => values[place] as number),
  };
}

function copy({ ts, columns }: Samples, names: MetricNames | null): Samples {
  const wanted = [...columns].filter(([name]) => names === null || names.has(name));
  return { ts: [...ts], columns: new Map(wanted.map(([name, values]) => [name, Array.from(values)])) };
}
