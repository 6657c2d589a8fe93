import type { EventRecord, Job, JobDraft, LogLine, MetricPoint, NodeRecord, Run } from '@svc/contract';
import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
} from 'tapable';
import type { Collector } from '@svc/hooks';
import type { Caller, RouteCollector } from '@svc/http';
import type { IssueSink } from '@svc/validation';
import type { Db } from './db/connect.js';
import type { Detector, Notifier, RunnerServer, SemanticRule } from './registrations.js';

/** Called once at boot, after every setup. A tap that throws stops the boot. */
export const createRegistrationHooks = () => ({
  routes: new SyncHook<[RouteCollector]>(['routes']),
  runners: new SyncHook<[Collector<RunnerServer>]>(['runners']),
  detectors: new SyncHook<[Collector<Detector>]>(['detectors']),
  notifiers: new SyncHook<[Collector<Notifier>]>(['notifiers']),
  semanticRules: new SyncHook<[Collector<SemanticRule>]>(['rules']),
});

/** Called one tap after another. A tap that throws makes the request, or the transaction, fail. */
export const createDecisionHooks = () => ({
  /** The caller behind a bearer token; the first tap that knows it answers. */
  authenticate: new AsyncSeriesBailHook<[bearer: string], Caller | undefined>(['bearer']),
  /** May change a submit: each tap returns the draft. */
  jobDraft: new AsyncSeriesWaterfallHook<[draft: JobDraft, caller: Caller]>(['draft', 'caller']),
  /** May refuse a submit by adding issues. */
  jobAdmit: new AsyncSeriesHook<[draft: JobDraft, caller: Caller, issues: IssueSink]>([
    'draft',
    'caller',
    'issues',
  ]),
  /** May reorder the queue: each tap returns it, first to run first. Runs on every scheduling pass: keep it fast. */
  jobOrder: new AsyncSeriesWaterfallHook<[queue: readonly QueuedJob[]]>(['queue']),
  /** Completes an attempt before its dispatch, outside any transaction: each tap returns the plan. */
  attemptPrepare: new AsyncSeriesWaterfallHook<[plan: AttemptPlan]>(['plan']),
  /** Runs inside the transaction that changes the job, so it uses `trx` alone; a tap that throws rolls it back. */
  jobTransition: new AsyncSeriesHook<[transition: JobTransition]>(['transition']),
});

/**
 * Called after commit, all taps at once. A tap that throws is reported and the others go on; the call never rejects.
 * A tap may see a change again after a crash, or miss one: what must be exact belongs in `jobTransition`.
 */
export const createObservationHooks = () => ({
  jobChanged: new AsyncParallelHook<[Change<Job>]>(['change']),
  runChanged: new AsyncParallelHook<[Change<Run>]>(['change']),
  nodeChanged: new AsyncParallelHook<[Change<NodeRecord>]>(['change']),
  eventAppended: new AsyncParallelHook<[EventRecord]>(['event']),
  pointsAppended: new AsyncParallelHook<[PointBatch]>(['batch']),
  linesAppended: new AsyncParallelHook<[LineBatch]>(['batch']),
});

/** `before` is null for a record that is new. */
export type Change<T> = { readonly before: T | null; readonly after: T };
/** `at` is in milliseconds since the epoch. */
export type JobTransition = Change<Job> & { readonly trx: Db; readonly at: number };
export type PointBatch = { readonly run_id: string; readonly points: readonly MetricPoint[] };
export type LineBatch = {
  readonly job_id: string;
  readonly attempt: number;
  readonly lines: readonly LogLine[];
};

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

export type RegistrationHooks = ReturnType<typeof createRegistrationHooks>;
export type RuntimeHooks = ReturnType<typeof createDecisionHooks> & ReturnType<typeof createObservationHooks>;

/** What plugins see of the hooks: they tap during setup, and the tap gets their name. */
export type PublicHooks = { readonly [K in keyof RegistrationHooks]: Pick<RegistrationHooks[K], 'tap'> } & {
  readonly [K in keyof RuntimeHooks]: Pick<RuntimeHooks[K], 'tap' | 'tapPromise'>;
};

/** For the plugin that owns the moment: `await ctx.fire.jobChanged({ before, after })`. */
export type Fire = { readonly [K in keyof RuntimeHooks]: RuntimeHooks[K]['promise'] };
