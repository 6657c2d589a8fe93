import type { Hello, NodeRecord } from '@svc/contract';
import { newestRows, type Db, type Listed, type Page, fail, requireId } from '@svc/kernel';
import { toRecord, toStatus, type CpuClaimRow, type NodeRow, type SlotRow } from './node-row.js';
import type { NodeCapacity } from './service.js';

export async function getRow(db: Db, id: string): Promise<NodeRow | null> {
  return (await db<NodeRow>('nodes').where({ id }).first()) ?? null;
}

export async function getNode(db: Db, id: string): Promise<NodeRecord | null> {
  const row = await getRow(db, id);
  return row ? ((await toRecords(db, [row]))[0] ?? null) : null;
}

/** Any form of id; throws not_found. */
export async function requireNode(db: Db, id: string): Promise<NodeRecord> {
  return (await getNode(db, requireId('node', id))) ?? fail('not_found', `no node "${id}"`);
}

/** Newest first. */
export async function listNodes(db: Db, page: Page): Promise<Listed<NodeRecord>> {
  const { items, ...rest } = await newestRows<NodeRow>(db, { from: 'nodes', ...page });
  return { items: await toRecords(db, items), ...rest };
}

export async function countNodes(db: Db): Promise<{ total: number; online: number }> {
  const rows = await db<NodeRow>('nodes').select('online');
  return { total: rows.length, online: rows.filter((row) => row.online).length };
}

export async function loadCapacity(db: Db, isConnected: (id: string) => boolean): Promise<NodeCapacity[]> {
  const columns = [
    'id',
    'name',
    'hostname',
    'labels',
    'runners',
    'max_cpu_jobs',
    'online',
    'draining',
    'offline_at',
  ] as const;
  const rows = await db<NodeRow>('nodes')
    .select(...columns)
    .orderBy('id');
  const present = await db<SlotRow>('slots')
    .select('node_id', 'idx', 'model', 'job_id', 'health', 'health_reason')
    .where({ present: true })
    .orderBy('idx');
  const slots = groupByNode(present);
  const cpuJobs = await countCpuJobs(db);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    status: toStatus(row),
    connected: isConnected(row.id),
    labels: {
      ...(JSON.parse(row.labels) as object),
      node: row.name,
      node_id: row.id,
      hostname: row.hostname,
    },
    runners: JSON.parse(row.runners) as NodeCapacity['runners'],
    slots: (slots.get(row.id) ?? []).map(({ idx, model, job_id, health, health_reason }) => ({
      index: idx,
      model,
      free: job_id === null,
      health,
      trouble: health === 'ok' ? null : (health_reason ?? `is ${health}`),
    })),
    cpu_jobs: cpuJobs.get(row.id) ?? 0,
    max_cpu_jobs: row.max_cpu_jobs,
    offline_at: row.offline_at,
  }));
}

/** To be called in a transaction: nothing can be claimed on the node until it ends. */
export async function lockNode(db: Db, id: string): Promise<void> {
  await db<NodeRow>('nodes').where({ id }).forUpdate().first('id');
}

/** Deletes the node with its slots, even held ones, and its secret: an agent that comes with this id later is a new node. */
export async function deleteNode(db: Db, id: string): Promise<void> {
  await db<SlotRow>('slots').where({ node_id: id }).delete();
  await db<CpuClaimRow>('cpu_claims').where({ node_id: id }).delete();
  await db<NodeRow>('nodes').where({ id }).delete();
}

export async function setHeartbeat(db: Db, id: string, at: number): Promise<void> {
  await db<NodeRow>('nodes').where({ id }).update({ last_heartbeat_at: at });
}

export async function setRunners(db: Db, id: string, runners: Hello['runners']): Promise<void> {
  await db<NodeRow>('nodes')
    .where({ id })
    .update({ runners: JSON.stringify(runners) });
}

export async function setDraining(db: Db, id: string, draining: boolean): Promise<void> {
  await db<NodeRow>('nodes').where({ id }).update({ draining });
}

export async function confirmSecret(db: Db, id: string): Promise<void> {
  await db<NodeRow>('nodes').where({ id }).update({ secret_confirmed: true });
}

/** Stores the end of the connection that began at `connectedAt`; a newer connection is left alone. */
export async function setDisconnected(db: Db, id: string, connectedAt: number): Promise<void> {
  await db<NodeRow>('nodes').where({ id, connected_at: connectedAt }).update({ connected_at: null });
}

/** To be called at boot, when no agent is connected. */
export async function setAllDisconnected(db: Db): Promise<void> {
  await db<NodeRow>('nodes').whereNotNull('connected_at').update({ connected_at: null });
}

export type OnlineNode = Pick<NodeRow, 'id' | 'last_heartbeat_at'>;

export async function listOnline(db: Db): Promise<OnlineNode[]> {
  return db<NodeRow>('nodes').where({ online: true }).select('id', 'last_heartbeat_at');
}

/** False when a heartbeat was stored since `seen` was read. */
export async function setOffline(db: Db, seen: OnlineNode, at: number): Promise<boolean> {
  const changed = await db<NodeRow>('nodes')
    .where({ ...seen, online: true })
    .update({ online: false, offline_at: at });
  return changed === 1;
}

async function toRecords(db: Db, rows: readonly NodeRow[]): Promise<NodeRecord[]> {
  const ids = rows.map(({ id }) => id);
  const slots = groupByNode(await db<SlotRow>('slots').whereIn('node_id', ids).orderBy('idx'));
  const cpuJobs = await countCpuJobs(db, ids);
  return rows.map((row) => toRecord(row, slots.get(row.id) ?? [], cpuJobs.get(row.id) ?? 0));
}

async function countCpuJobs(db: Db, ids?: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const claims = await db<CpuClaimRow>('cpu_claims')
    .where({ external: false })
    .modify((query) => void (ids && query.whereIn('node_id', ids)))
    .select('node_id');
  const counts = new Map<string, number>();
  for (const { node_id } of claims) counts.set(node_id, (counts.get(node_id) ?? 0) + 1);
  return counts;
}

function groupByNode<Slot extends Pick<SlotRow, 'node_id'>>(
  slots: readonly Slot[],
): ReadonlyMap<string, Slot[]> {
  const groups = new Map<string, Slot[]>();
  for (const slot of slots) {
    const group = groups.get(slot.node_id);
    if (group) group.push(slot);
    else groups.set(slot.node_id, [slot]);
  }
  return groups;
}
