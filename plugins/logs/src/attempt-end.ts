import { isTerminal, type AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { Jobs } from '@svc/plugin-jobs';
import type { AttemptLog } from './attempt-log.js';

/** Lines of an attempt may arrive after its end: readers wait until its end and its last line are both older than this. */
const SETTLE_MS = 15_000;

/** An attempt that is not over is checked again after this, in case another server has stored its end. */
const RECHECK_AFTER_MS = 15_000;

/** Decides how long the log of an attempt may still grow. */
export class AttemptEnd {
  /** The attempt need not be checked again before `untilMs`, unless `jobChanges` has risen. */
  #notOver = { jobChanges: -1, untilMs: -Infinity };
  /** An end or a line in the future means that the clock was set back: it counts as one of now. */
  #latestSignAt = Infinity;

  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock'>,
    private readonly jobs: Jobs,
    private readonly log: AttemptLog,
  ) {}

  /** How long the caller is to wait before it asks again, unless the log or the job changes first; 0: the log cannot grow any more. */
  async waitMs(): Promise<number> {
    const { jobChanges } = this.log;
    const now = this.ctx.clock.now();
    if (this.#notOver.jobChanges === jobChanges && now < this.#notOver.untilMs)
      return this.#notOver.untilMs - now;
    const leftMs = await this.#leftMs();
    if (leftMs !== null) return leftMs;
    this.#notOver = { jobChanges, untilMs: now + RECHECK_AFTER_MS };
    return RECHECK_AFTER_MS;
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
