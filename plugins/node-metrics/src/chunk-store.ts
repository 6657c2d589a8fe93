import type { Db } from '@svc/kernel';
import { decodeChunk, encodeChunk } from './chunk.js';
import type { Samples } from './samples.js';

/** `raw`: as measured. `minute`: means of a minute, at the minute's beginning. */
export type Resolution = 'raw' | 'minute';

interface ChunkRow {
  readonly node_id: string;
  readonly resolution: Resolution;
  readonly from_ts: number;
  readonly to_ts: number;
  readonly data: Buffer;
}

export type ChunkKey = Pick<ChunkRow, 'node_id' | 'from_ts'>;

/** A chunk that exists is not replaced. */
export async function insertChunk(
  db: Db,
  nodeId: string,
  resolution: Resolution,
  samples: Samples,
): Promise<void> {
  const { ts } = samples;
  await chunks(db)
    .insert({
      node_id: nodeId,
      resolution,
      from_ts: ts[0] as number,
      to_ts: ts.at(-1) as number,
      data: encodeChunk(samples),
    })
    .onConflict(['node_id', 'resolution', 'from_ts'])
    .ignore();
}

/** The times of the stored samples in that range, and possibly of some around it. */
export async function storedTimes(
  db: Db,
  nodeId: string,
  resolution: Resolution,
  from: number,
  to: number,
): Promise<ReadonlySet<number>> {
  const times = new Set<number>();
  for (const fromTs of await listChunks(db, nodeId, resolution, from, to)) {
    const bytes = await loadChunk(db, nodeId, resolution, fromTs);
    for (const at of bytes ? decodeChunk(bytes, new Set()).ts : []) times.add(at);
  }
  return times;
}

/** The time of the newest sample that is stored; null when there is none. */
export async function newestStored(db: Db, nodeId: string): Promise<number | null> {
  const row = await chunks(db)
    .where({ node_id: nodeId, resolution: 'raw' })
    .orderBy('to_ts', 'desc')
    .first('to_ts');
  return row?.to_ts ?? null;
}

/** The start times of the chunks that overlap that range, oldest first. Their bytes are loaded one at a time. */
export async function listChunks(
  db: Db,
  nodeId: string,
  resolution: Resolution,
  from: number,
  to = Number.MAX_SAFE_INTEGER,
): Promise<number[]> {
  const rows = await chunks(db)
    .where({ node_id: nodeId, resolution })
    .andWhere('to_ts', '>=', from)
    .andWhere('from_ts', '<=', to)
    .orderBy('from_ts')
    .select('from_ts');
  return rows.map(({ from_ts }) => from_ts);
}

/** null when the chunk was rolled up in the meantime. */
export async function loadChunk(
  db: Db,
  nodeId: string,
  resolution: Resolution,
  fromTs: number,
): Promise<Buffer | null> {
  const row = await chunks(db).where({ node_id: nodeId, resolution, from_ts: fromTs }).first('data');
  return row?.data ?? null;
}

/** The oldest chunks at full rate that end before `before`, those of one node together. */
export async function listAged(db: Db, before: number, limit: number): Promise<ChunkKey[]> {
  return chunks(db)
    .where({ resolution: 'raw' })
    .andWhere('to_ts', '<', before)
    .orderBy(['node_id', 'from_ts'])
    .limit(limit)
    .select('node_id', 'from_ts');
}

export async function deleteRaw(db: Db, nodeId: string, fromTs: readonly number[]): Promise<void> {
  await chunks(db).where({ node_id: nodeId, resolution: 'raw' }).whereIn('from_ts', fromTs).delete();
}

export async function deleteMinutes(db: Db, before: number): Promise<void> {
  await chunks(db).where({ resolution: 'minute' }).andWhere('to_ts', '<', before).delete();
}

function chunks(db: Db) {
  return db<ChunkRow>('node_metric_chunks');
}
