import type { Job, JobDraft } from '@svc/contract';
import { decision, observation, type Caller, type Change, type IssueSink, type Tx } from '@svc/kernel';

/** A tap may change the draft of a job that is submitted. */
export const jobDraft = decision.waterfall<[draft: JobDraft, caller: Caller]>('jobs.draft');

/** A tap may refuse a submitted job by adding issues. */
export const jobAdmit = decision<[draft: JobDraft, caller: Caller, issues: IssueSink]>('jobs.admit');

/** A tap may reorder the queue, first to run first. It is called in every scheduling pass, so it must be fast. */
export const jobOrder = decision.waterfall<[queue: readonly QueuedJob[]]>('jobs.order');

/** A tap completes the plan of an attempt before its dispatch, outside any transaction. */
export const attemptPrepare = decision.waterfall<[plan: AttemptPlan]>('jobs.attemptPrepare');

/**
 * Fired within the transaction that changes the job: a tap uses only `tx`, and one that throws rolls the change back. A tap may return what
 * it adds to the job.
 */
export const jobTransition = decision.gather<[transition: JobTransition], JobAddition>('jobs.transition');

/** Fired after the commit. A tap misses a change if the server is killed first: what must be exact belongs in `jobTransition`. */
export const jobChanged = observation<[change: Change<Job>]>('jobs.changed');

/** `at` is in milliseconds since the epoch. */
export type JobTransition = Change<Job> & { readonly tx: Tx; readonly at: number };

export type JobAddition = Pick<Job, 'run_id'>;

/** What a scheduling pass reads of each queued job: few columns, as there may be tens of thousands of jobs. */
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

/** An attempt that is about to be dispatched. Its process gets `run_id` and the environment `env`; only the runner reads `runner_plan`. */
export interface AttemptPlan {
  readonly job: Job;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly runner_plan: unknown;
}
