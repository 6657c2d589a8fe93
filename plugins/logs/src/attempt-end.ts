import { isTerminal, type AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { AttemptLog } from './attempt-log.js';

/** An attempt that is over may have lines on their way: its log is waited for while the last sign of it is younger. */
const SETTLE_MS = 15_000;

/** How long the log of an attempt may still grow: null while the attempt is not over, 0 when nothing is waited for any more. In ms. */
export async function expectedMs(
  { db, clock }: Pick<PluginContext, 'db' | 'clock'>,
  jobs: Jobs,
  log: AttemptLog,
): Promise<number | null> {
  const key: AttemptKey = { job_id: log.jobId, attempt: log.attempt };
  const job = await jobs.get(db, key.job_id);
  const attempt = await jobs.attempt(db, key);
  const isPresent = job?.attempt === key.attempt;
  if (job && isPresent && !isTerminal(job.status)) return null;
  const hasHadProcess = (attempt?.started_at ?? null) !== null || log.state.next_seq > 0;
  if (!job || log.isComplete || !hasHadProcess) return 0;
  const overAt = attempt?.finished_at ?? (isPresent ? job.finished_at : job.queued_at) ?? 0;
  return Math.max(0, Math.max(overAt, log.lastArrivalAt) + SETTLE_MS - clock.now());
}
