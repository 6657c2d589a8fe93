import { nextJobStatus, type EventDraft, type Job, type JobTrigger } from '@svc/contract';
import type { Change, Db, PluginContext, Tx } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { jobChanged, jobTransition } from './hooks.js';
import { omitRepeatedRunEnd } from './job-events.js';
import { toAttemptColumns, toJob, type AttemptRow, type JobRow } from './job-row.js';
import { closeAttempt, lockRow } from './job-store.js';

/** One step of the state machine, with the changes that belong to it. */
export interface Step {
  readonly trigger: JobTrigger;
  /** Columns of the job besides `status`. `pending_reason` is set here for a job that is QUEUED afterwards, and only then. */
  readonly set?: Partial<Omit<JobRow, 'id' | 'status'>>;
  /** Columns of the attempt's history row, where they are other than the job's. */
  readonly attempt?: Partial<AttemptRow>;
  /** Claims or releases slots. False: the slots are not free, and the whole step is rolled back. */
  readonly slots?: (trx: Db) => Promise<boolean>;
  readonly event?: (after: Job) => EventDraft;
}

/** Decides from the locked row which step to take; null: none. `at` in ms. */
export type Decide = (job: JobRow, tx: Tx, at: number) => Step | null | Promise<Step | null>;

class SlotsUnavailable extends Error {}

/** The only place where a job's state changes. */
export class Transitions {
  constructor(
    private readonly ctx: Pick<PluginContext, 'clock' | 'fire' | 'transaction'>,
    private readonly events: Events,
  ) {}

  /**
   * Changes the row, its history and its slots, appends its event and fires `jobTransition`, all in one transaction. null when the job is
   * unknown, `decide` returns null, the slots are not free, or the state machine has no such transition.
   */
  async apply(jobId: string, decide: Decide): Promise<Change<Job> | null> {
    try {
      return await this.ctx.transaction((tx) => this.#step(tx, jobId, decide));
    } catch (error) {
      if (error instanceof SlotsUnavailable) return null;
      throw error;
    }
  }

  /** To be called in the transaction that has stored the row: fires the hooks, stores the attempt and appends the event. Returns the changed job. */
  async record(
    tx: Tx,
    row: JobRow,
    before: Job | null,
    at: number,
    { event, attempt }: Pick<Step, 'event' | 'attempt'>,
  ): Promise<Job> {
    const stored = toJob(row);
    const additions = await this.ctx.fire(jobTransition, { tx, before, after: stored, at });
    const after: Job = Object.assign({}, stored, ...additions);
    const { run_id } = after;
    if (run_id !== row.run_id) await tx<JobRow>('jobs').where({ id: row.id }).update({ run_id });
    const history = { ...toAttemptColumns({ ...row, run_id }), ...attempt };
    await tx<AttemptRow>('attempts').insert(history).onConflict(['job_id', 'attempt']).merge();
    const draft = event ? await omitRepeatedRunEnd(this.events, tx, event(after)) : null;
    if (draft) await this.events.append(tx, draft, at);
    tx.afterCommit(() => this.ctx.fire(jobChanged, { before, after }));
    return after;
  }

  async #step(tx: Tx, jobId: string, decide: Decide): Promise<Change<Job> | null> {
    const row = await lockRow(tx, jobId);
    if (!row) return null;
    const at = this.ctx.clock.now();
    const step = await decide(row, tx, at);
    const status = step && nextJobStatus(row.status, step.trigger);
    if (!step || !status) return null;
    const columns = { pending_reason: null, ...step.set, status };
    const changed = await tx<JobRow>('jobs')
      .where({ id: row.id, status: row.status, attempt: row.attempt })
      .update(columns);
    if (changed !== 1) return null;
    if (step.slots && !(await step.slots(tx))) throw new SlotsUnavailable();
    const next: JobRow = { ...row, ...columns };
    if (next.attempt !== row.attempt) await closeAttempt(tx, row, at);
    const before = toJob(row);
    return { before, after: await this.record(tx, next, before, at, step) };
  }
}
