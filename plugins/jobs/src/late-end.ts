import type { AttemptKey, AttemptReport } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { AgentNode } from '@svc/plugin-nodes';
import { describeExit, toOutcome, toPlainText, type KnownExit } from './exit-outcome.js';
import type { AttemptRow } from './job-row.js';
import { getAttemptRow, lockRow } from './job-store.js';
import { within } from './steps.js';

/**
 * An attempt that was LOST and followed by another stays LOST, so that no outcome is counted twice. When its agent later reports how it
 * ended, its row gets the exit code, the time and the message. Repeated reports change nothing.
 */
export function noteLateEnd(
  { db, clock }: PluginContext,
  key: AttemptKey,
  report: AttemptReport,
  exit: KnownExit,
  node: AgentNode,
): Promise<void> {
  return db.transaction(async (trx) => {
    const job = await lockRow(trx, key.job_id);
    const sent = await getAttemptRow(trx, key);
    const { exit_code } = toOutcome(exit, node.name);
    if (!job || job.attempt <= key.attempt || sent?.node_id !== node.id) return;
    if (sent.status !== 'LOST' || sent.exit_code !== null || exit_code === null) return;
    const at = clock.now();
    await trx<AttemptRow>('attempts')
      .where({ ...key })
      .update({
        exit_code,
        failure_message: toPlainText(
          `${sent.failure_message}; later ${node.name} said that the process ${describeExit(exit)}`,
        ),
        finished_at: within(report.finished_at ?? at, sent.started_at ?? sent.dispatched_at ?? 0, at),
      });
  });
}
