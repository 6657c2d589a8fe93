import { isTerminal, type Job } from '@svc/contract';
import { fail, type PluginContext } from '@svc/kernel';
import type { JobRow } from './job-row.js';
import { getRow } from './job-store.js';
import type { Timing } from './options.js';
import { isAhead } from './plan-pass.js';
import { backoffMs } from './retry-policy.js';
import { retryStep } from './steps.js';
import type { Transitions } from './transition.js';

const NO_BACKOFF = null;

/** Queues a job again as its next attempt, on request or as an automatic retry. */
export class Retrier {
  constructor(
    private readonly ctx: PluginContext,
    private readonly transitions: Transitions,
    private readonly timing: Timing,
  ) {}

  async retry(jobId: string): Promise<Job> {
    const change = await this.transitions.apply(jobId, (row, _trx, at) =>
      isTerminal(row.status) || row.status === 'LOST'
        ? retryStep(row, { why: `attempt ${row.attempt + 1}, asked for`, notBefore: NO_BACKOFF }, at)
        : null,
    );
    if (change) return change.after;
    const row = (await getRow(this.ctx.db, jobId)) ?? fail('not_found', `no job "${jobId}"`);
    return fail('conflict', `only an ended or LOST job can be retried: ${row.id} is ${row.status}`, {
      status: row.status,
    });
  }

  /** Starts the automatic retries that are due. */
  async retryDue(): Promise<void> {
    const { clock, db, log } = this.ctx;
    const now = clock.now();
    const due = await db<JobRow>('jobs')
      .where('retry_at', '<=', now)
      .orWhere('retry_at', '>', now + this.timing.lostRetryAfterMs)
      .orderBy('created_at')
      .pluck('id');
    for (const id of due as string[])
      await this.#retryIfDue(id).catch((err: unknown) =>
        log.error({ err, job_id: id }, 'a job could not be queued again; the next pass tries again'),
      );
  }

  async #retryIfDue(id: string): Promise<void> {
    await this.transitions.apply(id, (row, _trx, at) => {
      // A time further away than any that is ever set means that the clock has been set back since.
      if (row.retry_at === null || isAhead(row.retry_at, at, this.timing.lostRetryAfterMs)) return null;
      const waitMs = backoffMs(row.attempt, this.timing.backoff);
      const why = `attempt ${row.attempt + 1} of ${row.max_attempts} after ${row.failure_reason}: ${row.failure_message}`;
      return retryStep(row, { why, notBefore: at + waitMs }, at);
    });
  }
}
