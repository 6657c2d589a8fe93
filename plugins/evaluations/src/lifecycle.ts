import { toId, type AttemptKey, type EvaluationResult, type Job } from '@svc/contract';
import { HttpError, type PluginContext, type Tx } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { JobTransition, Jobs } from '@svc/plugin-jobs';
import type { MessageSource } from '@svc/plugin-nodes';
import type { EvaluationRow } from './evaluation-row.js';
import { finishedEvent } from './finished-event.js';
import {
  awaitAttempt,
  awaitResult,
  endEvaluation,
  listOverdue,
  lockEvaluation,
  storeResult,
  type EvaluationEnd,
} from './store.js';

/** Follows the job of each evaluation to its end, and puts the result that its agent has read beside it. The job is always locked first. */
export class Lifecycle {
  constructor(
    private readonly ctx: Pick<PluginContext, 'db' | 'clock' | 'log' | 'transaction'>,
    private readonly jobs: Jobs,
    private readonly events: Events,
    private readonly resultTimeoutMs: number,
  ) {}

  /** In the transaction that changes the job. */
  async mirror({ tx, before, after: job, at }: JobTransition): Promise<void> {
    if (job.evaluation_id === null || before === null) return;
    if (before.attempt !== job.attempt) return awaitAttempt(tx, job.evaluation_id, job.attempt);
    if (job.status === 'SUCCEEDED') return this.#succeeded(tx, job, at);
    if (job.status !== 'FAILED' && job.status !== 'CANCELLED') return;
    const error = job.failure_message ?? job.failure_reason ?? job.status;
    await this.#end(tx, job.evaluation_id, job, {
      status: job.status,
      error,
      finished_at: job.finished_at ?? at,
    });
  }

  /** A result that an agent sends: of the present attempt of an evaluation that has not ended. Any other changes nothing. */
  async receive(result: EvaluationResult, { node, attempt: sent }: MessageSource): Promise<void> {
    const key = sent && toCanonical(sent);
    const attempt = key && (await this.jobs.attempt(this.ctx.db, key));
    if (!attempt) return;
    if (attempt.node_id !== node.id)
      throw new HttpError('forbidden', `attempt ${attempt.attempt} of ${attempt.job_id} is not on this node`);
    await this.ctx.transaction(async (tx) => {
      const job = await this.jobs.lock(tx, attempt.job_id);
      const row = await this.#awaiting(tx, job, attempt);
      if (!row || !job) return;
      await storeResult(tx, row.id, attempt.attempt, result);
      if (job.status === 'SUCCEEDED') await this.#complete(tx, row.id, job);
    });
  }

  /** Ends those whose result has not come for too long after their job had succeeded. */
  async endOverdue(): Promise<void> {
    const { db, clock, log, transaction } = this.ctx;
    const error = `its job has succeeded, but its agent has not sent the result within ${this.resultTimeoutMs / 1000} s`;
    for (const id of await listOverdue(db, clock.now() - this.resultTimeoutMs))
      await transaction(async (tx) => {
        await this.#end(tx, id, null, { status: 'FAILED', error, finished_at: clock.now() });
      }).catch((err: unknown) =>
        log.error({ err, evaluation_id: id }, 'an overdue evaluation could not be ended'),
      );
  }

  /** The job is locked. null when a result of that attempt is not awaited. */
  async #awaiting(tx: Tx, job: Job | null, { attempt }: AttemptKey): Promise<EvaluationRow | null> {
    if (!job || job.evaluation_id === null || job.attempt !== attempt) return null;
    const row = await lockEvaluation(tx, job.evaluation_id);
    return row?.status === 'QUEUED' && row.attempt === attempt ? row : null;
  }

  async #succeeded(tx: Tx, job: Job, at: number): Promise<void> {
    const row = await this.#awaiting(tx, job, { job_id: job.id, attempt: job.attempt });
    if (!row) return;
    if (row.result_attempt === job.attempt) await this.#complete(tx, row.id, job);
    else await awaitResult(tx, row.id, at);
  }

  #complete(tx: Tx, id: string, job: Job): Promise<void> {
    const finished_at = job.finished_at ?? this.ctx.clock.now();
    return this.#end(tx, id, job, { status: 'SUCCEEDED', error: null, finished_at });
  }

  async #end(tx: Tx, id: string, job: Job | null, end: EvaluationEnd): Promise<void> {
    const ended = await endEvaluation(tx, id, end);
    if (ended) await this.events.append(tx, finishedEvent(ended, job));
  }
}

function toCanonical({ job_id, attempt }: AttemptKey): AttemptKey | null {
  const id = toId('job', job_id);
  return id === null ? null : { job_id: id, attempt };
}
