import type { Job, JobDraft } from '@svc/contract';
import { decision, observation, type Caller, type Change, type IssueSink, type Tx } from '@svc/kernel';

/** May change a submit. */
export const jobDraft = decision.waterfall<[draft: JobDraft, caller: Caller]>('jobs.draft');

/** May refuse a submit by adding issues. */
export const jobAdmit = decision<[draft: JobDraft, caller: Caller, issues: IssueSink]>('jobs.admit');

/** May reorder the queue, first to run first. Called on every scheduling pass: keep it fast. */
export const jobOrder = decision.waterfall<[queue: readonly QueuedJob[]]>('jobs.order');

/** Completes an attempt before its dispatch, outside any transaction. */
export const attemptPrepare = decision.waterfall<[plan: AttemptPlan]>('jobs.attemptPrepare');

/**
 * Within the transaction that changes the job, so a tap uses `tx` alone; one that throws rolls it back. A tap may return what it adds to
 * the job.
 */
export const jobTransition = decision.gather<[transition: JobTransition], JobAddition>('jobs.transition');

/** After commit. A tap may miss a change when the server is killed: what must be exact belongs in `jobTransition`. */
export const jobChanged = observation<[change: Change<Job>]>('jobs.changed');

/** `at` is in milliseconds since the epoch. */
export type JobTransition = Change<Job> & { readonly tx: Tx; readonly at: number };

export type JobAddition = Pick<Job, 'run_id'>;

/** What a scheduling pass reads of each waiting job: few columns, for there may be tens of thousands. */
export type QueuedJob = Pick<
  Job,
  | 'id'
  | 'attempt'
  | 'priority'
  | 'project_id'
  | 'experiment_id'
  | 'runner'
  | 'node_selector'
  | 'created_at'
  | 'queued_at'
>;

/** An attempt on its way to an agent. `env` is what the process gets; `runner_plan` is the runner's own. */
export interface AttemptPlan {
  readonly job: Job;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly runner_plan: unknown;
}
