import type { AttemptKey, SlotHealth, SlotSpec } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { CpuClaimRow, NodeRow, SlotRow } from './node-row.js';
import type { Claim, Holding } from './service.js';

const OK: SlotHealth = { state: 'ok', reason: null, since: null };

const ROWS_PER_STATEMENT = 100;

/** Sets the node's slots to those that its agent names. A slot that a job holds is never deleted. Within a transaction. */
export async function reconcileSlots(db: Db, nodeId: string, specs: readonly SlotSpec[]): Promise<void> {
  await db<SlotRow>('slots').where({ node_id: nodeId }).update({ present: false });
  const byIndex = new Map(specs.map((spec) => [spec.index, toRow(nodeId, spec)]));
  const rows = [...byIndex.values()];
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    await db<SlotRow>('slots')
      .insert(rows.slice(from, from + ROWS_PER_STATEMENT))
      .onConflict(['node_id', 'idx'])
      .merge();
  await dropUnheldAbsent(db, nodeId);
}

function toRow(
  node_id: string,
  { index, health = OK, ...spec }: SlotSpec,
): Omit<SlotRow, 'job_id' | 'attempt'> {
  const told = { health: health.state, health_reason: health.reason, health_since: health.since };
  return { node_id, idx: index, ...spec, ...told, present: true };
}

/** See `Nodes.claim`. Within a transaction. */
export async function claim(db: Db, wanted: Claim): Promise<boolean> {
  const { node_id, gpu_indices, job_id, attempt, isExternal = false } = wanted;
  const node = await db<NodeRow>('nodes')
    .where({ id: node_id, online: true, draining: false })
    .forUpdate()
    .first('max_cpu_jobs');
  if (!node || (await isHeldBy(db, node_id, { job_id, attempt }))) return false;
  if (gpu_indices.length === 0)
    return claimCpu(db, { node_id, job_id, attempt, external: isExternal }, node.max_cpu_jobs);
  const free = () =>
    db<SlotRow>('slots')
      .where({ node_id, present: true, health: 'ok' })
      .whereNull('job_id')
      .whereIn('idx', [...gpu_indices]);
  if ((await free().orderBy('idx').forUpdate().pluck('idx')).length !== gpu_indices.length) return false;
  await free().update({ job_id, attempt });
  return true;
}

/** See `Nodes.release`. */
export async function release(db: Db, nodeId: string, { job_id, attempt }: AttemptKey): Promise<boolean> {
  const held = { node_id: nodeId, job_id, attempt };
  const slots = await db<SlotRow>('slots').where(held).update({ job_id: null, attempt: null });
  if (slots > 0) {
    await dropUnheldAbsent(db, nodeId);
    return true;
  }
  return (await db<CpuClaimRow>('cpu_claims').where(held).delete()) > 0;
}

/** See `Nodes.holdings`. */
export async function listHoldings(db: Db, nodeId: string): Promise<Holding[]> {
  const slots = await db<SlotRow>('slots').where({ node_id: nodeId }).whereNotNull('job_id').orderBy('idx');
  const holdings = new Map<string, Holding & { gpu_indices: number[] }>();
  for (const { job_id, attempt, idx } of slots as (SlotRow & AttemptKey)[]) {
    const key = `${job_id}/${attempt}`;
    const holding = holdings.get(key) ?? { job_id, attempt, gpu_indices: [] };
    holding.gpu_indices.push(idx);
    holdings.set(key, holding);
  }
  const claims = await db<CpuClaimRow>('cpu_claims')
    .where({ node_id: nodeId })
    .orderBy(['job_id', 'attempt']);
  return [
    ...holdings.values(),
    ...claims.map(({ job_id, attempt }) => ({ job_id, attempt, gpu_indices: [] })),
  ];
}

async function isHeldBy(db: Db, node_id: string, { job_id, attempt }: AttemptKey): Promise<boolean> {
  const held = { node_id, job_id, attempt };
  const holding =
    (await db<SlotRow>('slots').where(held).first()) ?? (await db('cpu_claims').where(held).first());
  return holding !== undefined;
}

async function claimCpu(db: Db, row: CpuClaimRow, maxCpuJobs: number): Promise<boolean> {
  const { node_id, external } = row;
  const taken = await db<CpuClaimRow>('cpu_claims').where({ node_id, external: false }).select('job_id');
  if (!external && taken.length >= maxCpuJobs) return false;
  await db<CpuClaimRow>('cpu_claims').insert(row);
  return true;
}

async function dropUnheldAbsent(db: Db, nodeId: string): Promise<void> {
  await db<SlotRow>('slots').where({ node_id: nodeId, present: false }).whereNull('job_id').delete();
}
