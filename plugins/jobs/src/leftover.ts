import type { AttemptKey } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import { isAt } from './dispatch.js';
import { lockRow } from './job-store.js';

/**
 * Frees what an attempt holds on a node where, as its agent says, nothing of it is any more. False when it held nothing. In one
 * transaction with the look at the job: the attempt may have been claimed for that node anew since the agent spoke.
 */
export function releaseLeftover(db: Db, nodes: Nodes, key: AttemptKey, node: AgentNode): Promise<boolean> {
  return db.transaction(async (trx) => {
    const row = await lockRow(trx, key.job_id);
    const isExpected = isAt(row, key, node) && ['DISPATCHING', 'RUNNING'].includes(row.status);
    return !isExpected && nodes.release(trx, node.id, key);
  });
}
