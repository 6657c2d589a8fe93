import type { AttemptKey } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import { isAttemptAt } from './dispatch.js';
import { lockRow } from './job-store.js';

/**
 * Releases what an attempt holds on a node whose agent no longer has it. False when it held nothing. The job is read in the same
 * transaction, as the attempt may have been claimed for that node again since the agent's report.
 */
export function releaseLeftover(db: Db, nodes: Nodes, key: AttemptKey, node: AgentNode): Promise<boolean> {
  return db.transaction(async (trx) => {
    const row = await lockRow(trx, key.job_id);
    const isExpected = isAttemptAt(row, key, node) && ['DISPATCHING', 'RUNNING'].includes(row.status);
    return !isExpected && nodes.release(trx, node.id, key);
  });
}
