import type { NodeRecord } from '@svc/contract';
import { fail, type Db } from '@svc/kernel';
import type { JobRow } from './job-row.js';
import { listOnNode } from './job-store.js';

/**
 * A node cannot be removed while a job is DISPATCHING or RUNNING there. The automatic retry of a job that is LOST there is due at once. If
 * the agent comes back and still has such a job, it gets the verdict `stop`, as the slots no longer exist.
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
