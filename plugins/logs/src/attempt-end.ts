import { isTerminal, type AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { AttemptLog } from './attempt-log.js';

/** An attempt that is over may have lines on their way: its log is waited for while the last sign of it is younger. */
const SETTLE_MS = 15_000;

/** An attempt that is not over is looked at again after this, should its end have escaped this server. */
const LOOK_AGAIN_MS = 15_000;

/** Says how long the log of an attempt may still grow. */
export class AttemptEnd {
  /** Until when, and for which state of the job's changes, the attempt is known not to be over. */
  #notOver = { jobChanges: -1, untilMs: -Infinity };
  /** A sign from later than now was given before the clock was set back: it counts as one of now. */
  #latestSignAt = Infinity;

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock'>,
    private readonly jobs: Jobs,
    private readonly log: AttemptLog,
  ) {}

  /** Look again after so many ms, or when the log or the job has changed; 0: nothing is waited for any more. */
  async waitMs(): Promise<number> {
    const { jobChanges } = this.log;
    const now = this.ctx.clock.now();
    if (this.#notOver.jobChanges === jobChanges && now < this.#notOver.untilMs)
      return this.#notOver.untilMs - now;
    const leftMs = await this.#leftMs();
    if (leftMs !== null) return leftMs;
    this.#notOver = { jobChanges, untilMs: now + LOOK_AGAIN_MS };
    return LOOK_AGAIN_MS;
  }

  /** null while the attempt is not over. */
  async #leftMs(): Promise<number | null> {
    const { ctx, jobs, log } = this;
    const key: AttemptKey = { job_id: log.jobId, attempt: log.attempt };
    const job = await jobs.get(ctx.db, key.job_id);
    const attempt = await jobs.attempt(ctx.db, key);
    const isPresent = job?.attempt === key.attempt;
    if (job && isPresent && !isTerminal(job.status)) return null;
    const hasHadProcess = (attempt?.started_at ?? null) !== null || log.state.next_seq > 0;
    if (!job || log.isComplete || !hasHadProcess) return 0;
    const overAt = attempt?.finished_at ?? (isPresent ? job.finished_at : job.queued_at) ?? 0;
    const now = ctx.clock.now();
    const signAt = Math.max(overAt, log.lastArrivalAt);
    if (signAt > now) this.#latestSignAt = Math.min(this.#latestSignAt, now);
    return Math.max(0, Math.min(signAt, this.#latestSignAt) + SETTLE_MS - now);
  }
}
