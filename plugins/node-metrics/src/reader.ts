import type { NodeSeries, NodeSnapshot } from '@svc/contract';
import type { Db } from '@svc/kernel';
import { decodeChunk } from './chunk.js';
import { listChunks, loadChunk, type Resolution } from './chunk-store.js';
import type { NodeBuffer } from './node-buffer.js';
import type { Samples, TimedValues } from './samples.js';
import { toThinned } from './thin.js';

const SNAPSHOT_WINDOW_MS = 60_000;
/** Chunks decoded in one go, before others have their turn. */
const CHUNKS_PER_TURN = 20;

export interface SeriesQuestion {
  /** null: every metric. */
  readonly names: ReadonlySet<string> | null;
  /** Samples from then on, ms. */
  readonly from: number;
  readonly limit: number;
}

/** The series of one node by name; a metric that was not measured then is left out. */
export async function readSeries(
  db: Db,
  nodeId: string,
  buffer: NodeBuffer | null,
  { names, from, limit }: SeriesQuestion,
): Promise<Record<string, NodeSeries>> {
  const gathered = new Map<string, TimedValues>();
  // Taken now: a chunk that is written while we read would otherwise be met twice, or never.
  const unwritten = buffer === null ? null : copy(buffer.samples, names);
  const readTo = unwritten?.ts[0] ?? Infinity;
  for (const resolution of ['minute', 'raw'] as const)
    await gatherStored(db, nodeId, resolution, { names, from, to: readTo }, gathered);
  if (unwritten) gather(gathered, unwritten, from, Infinity);
  const series = [...gathered].map(([name, values]) => [name, toThinned(values, limit)] as const);
  return Object.fromEntries(series.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Stretch {
  readonly names: ReadonlySet<string> | null;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

async function gatherStored(
  db: Db,
  nodeId: string,
  resolution: Resolution,
  { names, from, to }: Stretch,
  gathered: Map<string, TimedValues>,
): Promise<void> {
  for (const [index, fromTs] of (await listChunks(db, nodeId, resolution, from)).entries()) {
    const bytes = fromTs < to ? await loadChunk(db, nodeId, resolution, fromTs) : null;
    if (bytes) gather(gathered, decodeChunk(bytes, names), from, to);
    if (index % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

function gather(
  gathered: Map<string, TimedValues>,
  { ts, columns }: Samples,
  from: number,
  to: number,
): void {
  for (const [name, column] of columns) {
    const into = gathered.get(name) ?? { ts: [], values: [] };
    gathered.set(name, into);
    for (let index = 0; index < ts.length; index++) {
      const at = ts[index] as number;
      const value = column[index] as number;
      if (Number.isNaN(value) || at < from || at >= to) continue;
      into.ts.push(at);
      into.values.push(value);
    }
  }
}

function copy({ ts, columns }: Samples, names: ReadonlySet<string> | null): Samples {
  const wanted = [...columns].filter(([name]) => names === null || names.has(name));
  return { ts: [...ts], columns: new Map(wanted.map(([name, values]) => [name, Array.from(values)])) };
}

/** Ages are counted from the node's newest sample, which came at `heardAt`: the clocks of hosts differ. */
export function toSnapshot(nodeId: string, buffer: NodeBuffer | null, now: number): NodeSnapshot {
  const silentMs = now - (buffer?.heardAt ?? -Infinity);
  if (buffer === null || silentMs > SNAPSHOT_WINDOW_MS)
    return { node_id: nodeId, ts: null, metrics: {}, processes: [] };
  const { newest, latest, processes } = buffer;
  const isRecent = ({ ts }: { ts: number }) => (newest ?? 0) - ts + silentMs <= SNAPSHOT_WINDOW_MS;
  const metrics = Object.fromEntries([...latest].filter(([, measured]) => isRecent(measured)));
  return { node_id: nodeId, ts: newest, metrics, processes: [...processes] };
}
