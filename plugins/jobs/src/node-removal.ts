import type { NodeRecord } from '@svc/contract';
import { fail, type Db } from '@svc/kernel';
import type { JobRow } from './job-row.js';
import { listOnNode } from './job-store.js';

/**
 * A node is not forgotten while a job is on its way there or runs there. One that is LOST there has nobody left to wait for: its
 * automatic retry is due at once, and an agent that comes back with it all the same is told to stop it, as its slots are gone.
 */
export async function settleRemovedNode(trx: Db, node: NodeRecord, at: number): Promise<void> {
  const jobs = await listOnNode(trx, node.id);
  const active = jobs.filter(({ status }) => status !== 'LOST').map(({ id }) => id);
  if (active.length > 0)
    fail('conflict', `${node.name} has ${active.join(', ')}: cancel it, or wait until it has ended`, {
      job_ids: active,
    });
  const lost = () => trx<JobRow>('jobs').where({ node_id: node.id, status: 'LOST' });
  await lost().whereNotNull('retry_at').update({ retry_at: at });
  await lost().update({ node_id: null });
}
