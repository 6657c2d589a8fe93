import type { AttemptKey, Job, JobAttempt, JobStatus, JobSubmit } from '@svc/contract';
import { serviceRef, type Caller, type Db, type Tx } from '@svc/kernel';
import type { ResolvedPlacement } from '@svc/plugin-projects';
import type { IdempotencyKey } from './idempotency.js';

export type { IdempotencyKey } from './idempotency.js';

export interface JobFilter {
  readonly status?: JobStatus | undefined;
  /** Exactly. */
  readonly name?: string | undefined;
  /** Words of the name, or the beginning or end of the id. */
  readonly q?: string | undefined;
  readonly project_id?: string | undefined;
  readonly experiment_id?: string | undefined;
  readonly node_id?: string | undefined;
  /** Only jobs with a smaller `created_at`, in ms. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface JobPage {
  readonly items: Job[];
  /** `before` of the next page; null on the last. */
  readonly next_before: number | null;
  /** Set when the page has fewer jobs than were asked for, because they are large. */
  readonly truncated?: true;
}

/** Where an attempt was dispatched to, its run, and when it ran. */
export interface Attempt extends AttemptKey {
  readonly run_id: string | null;
  readonly node_id: string | null;
  readonly gpu_indices: readonly number[];
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

/** A job that is to be queued. */
export interface SubmitRequest {
  readonly body: JobSubmit;
  readonly caller: Caller;
  /** null: every request is a new job. */
  readonly idempotency: IdempotencyKey | null;
  /** The evaluation that the job carries out. */
  readonly evaluation?: EvaluationOfJob;
}

export interface EvaluationOfJob {
  readonly id: string;
  readonly checkpoint_id: string;
  /** Where the job goes if there is room, and otherwise to any other node that fits. */
  readonly preferred_node_id: string | null;
  /** Stores it in the transaction of the job, which may be tried more than once. `at` in ms. */
  store(tx: Tx, jobId: string, at: number): Promise<void>;
}

export interface Submitted {
  readonly job: Job;
  /** An earlier request with the same key created the job. */
  readonly isRepeated: boolean;
}

/** The records contain env values in plain text: call `hideEnv` before you return one to a caller. */
export interface Jobs {
  /** Checks and queues a job. Throws validation_error, conflict, not_found. */
  submit(request: SubmitRequest): Promise<Submitted>;
  /** `id` in canonical form. */
  get(db: Db, id: string): Promise<Job | null>;
  /** Locks the job until the transaction ends. `id` in canonical form. */
  lock(db: Db, id: string): Promise<Job | null>;
  /** Sets the project and the experiment of a job. The job must be locked; `id` in canonical form. */
  place(tx: Tx, id: string, placement: ResolvedPlacement): Promise<void>;
  /** Takes a run that is being deleted out of the records of the job and its attempts. Ids in canonical form. */
  dropRun(tx: Tx, id: string, runId: string): Promise<void>;
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<Job>;
  /** Newest first. */
  list(db: Db, filter: JobFilter): Promise<JobPage>;
  /** A query of `id`, `name`, `status` and `finished_at`, which the caller completes by fields of the record. */
  query(db: Db): ReturnType<Db>;
  /** The job as this caller may see it: without write scope every env value is hidden. */
  hideEnv(job: Job, caller: Caller): Job;
  /** Those of these source trees that a job names. */
  snapshotsInUse(db: Db, sha256s: readonly string[]): Promise<Set<string>>;
  countByStatus(db: Db): Promise<Record<JobStatus, number>>;
  attempt(db: Db, key: AttemptKey): Promise<Attempt | null>;
  /** The node of every attempt of the job, by the number of the attempt; null: it was not dispatched. `jobId` in canonical form. */
  nodesOfAttempts(db: Db, jobId: string): Promise<ReadonlyMap<number, string | null>>;
  /** The attempt as its record shows it. `job_id` in canonical form. */
  attemptRecord(db: Db, key: AttemptKey): Promise<JobAttempt | null>;
}

export const jobsRef = serviceRef<Jobs>('jobs');
