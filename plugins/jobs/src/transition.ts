import { nextJobStatus, type EventDraft, type EventRecord, type Job, type JobTrigger } from '@svc/contract';
import type { Change, Db, PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { tellEndOnce } from './job-events.js';
import { toAttemptColumns, toJob, type AttemptRow, type JobRow } from './job-row.js';
import { closeAttempt, lockRow } from './job-store.js';

/** One step of the state machine and all that goes with it. */
export interface Step {
  readonly trigger: JobTrigger;
  /** Columns of the job besides `status`. `pending_reason` is set here for a job that is QUEUED afterwards, and only then. */
  readonly set?: Partial<Omit<JobRow, 'id' | 'status'>>;
  /** Columns of the attempt's history row, where they are other than the job's. */
  readonly attempt?: Partial<AttemptRow>;
  /** The slot change. False: it cannot be had, nothing of the step happens. */
  readonly slots?: (trx: Db) => Promise<boolean>;
  readonly event?: (after: Job) => EventDraft;
}

/** Looks at the locked row and says what is to happen to it; null: nothing. `at` in ms. */
export type Decide = (job: JobRow, trx: Db, at: number) => Step | null | Promise<Step | null>;

class NotToBe extends Error {}

/** The only place where a job's state changes. */
export class Transitions {
  readonly #afterwards = new Set<Promise<unknown>>();

  constructor(
    private readonly ctx: PluginContext,
    private readonly events: Events,
  ) {}

  /**
   * One transaction: the row, its history, its slots, its event, and what other plugins do at `jobTransition`. Observers hear of
   * it once it has committed. null when the job is unknown, `decide` wants nothing, or the state machine refuses.
   */
  async apply(jobId: string, decide: Decide): Promise<Change<Job> | null> {
    const done = await this.ctx.db
      .transaction((trx) => this.#step(trx, jobId, decide))
      .catch((error: unknown) => {
        if (error instanceof NotToBe) return null;
        throw error;
      });
    if (!done) return null;
    this.announce(done.change, done.events);
    return done.change;
  }

  /** Within the caller's own transaction: what observers are told after its commit is the caller's to `announce`. */
  async record(
    trx: Db,
    row: JobRow,
    before: Job | null,
    at: number,
    event?: Step['event'],
  ): Promise<{ after: Job; events: EventRecord[] }> {
    const after = toJob(row);
    await this.ctx.fire.jobTransition({ trx, before, after, at });
    if (after.run_id !== row.run_id) {
      await trx<JobRow>('jobs').where({ id: row.id }).update({ run_id: after.run_id });
      await trx<AttemptRow>('attempts')
        .where({ job_id: row.id, attempt: row.attempt })
        .update({ run_id: after.run_id });
    }
    const draft = event ? await tellEndOnce(this.events, trx, event(after)) : null;
    return { after, events: draft ? [await this.events.append(trx, draft, at)] : [] };
  }

  announce(change: Change<Job>, events: readonly EventRecord[]): void {
    this.#follow(this.events.publish(events));
    this.#follow(this.ctx.fire.jobChanged(change));
  }

  /** Resolves once observers have heard of everything. */
  async settle(): Promise<void> {
    while (this.#afterwards.size > 0) await Promise.all(this.#afterwards);
  }

  async #step(
    trx: Db,
    jobId: string,
    decide: Decide,
  ): Promise<{ change: Change<Job>; events: EventRecord[] } | null> {
    const row = await lockRow(trx, jobId);
    if (!row) return null;
    const at = this.ctx.clock.now();
    const step = await decide(row, trx, at);
    const status = step && nextJobStatus(row.status, step.trigger);
    if (!step || !status) return null;
    const columns = { pending_reason: null, ...step.set, status };
    const changed = await trx<JobRow>('jobs')
      .where({ id: row.id, status: row.status, attempt: row.attempt })
      .update(columns);
    if (changed !== 1) return null;
    if (step.slots && !(await step.slots(trx))) throw new NotToBe();
    const next: JobRow = { ...row, ...columns };
    if (next.attempt !== row.attempt) await closeAttempt(trx, row, at);
    const history = { ...toAttemptColumns(next), ...step.attempt };
    await trx<AttemptRow>('attempts').insert(history).onConflict(['job_id', 'attempt']).merge();
    const before = toJob(row);
    const { after, events } = await this.record(trx, next, before, at, step.event);
    return { change: { before, after }, events };
  }

  #follow(work: Promise<unknown>): void {
    const tracked = work.finally(() => this.#afterwards.delete(tracked));
    this.#afterwards.add(tracked);
  }
}
