import type { EventRecord, Job, JobDraft, LogLine, MetricPoint, NodeRecord, Run } from '@svc/contract';
import type {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
} from 'tapable';
import type { Caller } from './caller.js';
import type { Collector } from './collector.js';
import type { Db } from './db/connect.js';
import type { IssueSink } from './errors.js';
import type { RouteCollector } from './http/route.js';
import type { Detector, Notifier, RunnerServer, SemanticRule } from './registrations.js';

/** What a scheduling pass reads of each waiting job: few columns, for there may be tens of thousands. */
export type QueuedJob = Pick<
  Job,
  'id' | 'attempt' | 'priority' | 'project_id' | 'experiment_id' | 'runner' | 'node_selector' | 'created_at' | 'queued_at'
>;

/** Called once at boot, after every setup. A tap that throws stops the boot. */
export interface RegistrationHooks {
  routes: SyncHook<[RouteCollector]>;
  runners: SyncHook<[Collector<RunnerServer>]>;
  detectors: SyncHook<[Collector<Detector>]>;
  notifiers: SyncHook<[Collector<Notifier>]>;
  semanticRules: SyncHook<[Collector<SemanticRule>]>;
}

/** Called one tap after another. A tap that throws makes the request, or the transaction, fail. */
export interface DecisionHooks {
  /** The caller behind a bearer token; the first tap that knows it answers. */
  authenticate: AsyncSeriesBailHook<[bearer: string], Caller | undefined>;
  /** May change a submit: each tap returns the draft. */
  jobDraft: AsyncSeriesWaterfallHook<[draft: JobDraft, caller: Caller]>;
  /** May refuse a submit by adding issues. */
  jobAdmit: AsyncSeriesHook<[draft: JobDraft, caller: Caller, issues: IssueSink]>;
  /** May reorder the queue: each tap returns it, first to run first. Runs on every scheduling pass: keep it fast. */
  jobOrder: AsyncSeriesWaterfallHook<[queue: readonly QueuedJob[]]>;
  /** Completes an attempt before its dispatch, outside any transaction: each tap returns the plan. */
  attemptPrepare: AsyncSeriesWaterfallHook<[plan: AttemptPlan]>;
  /** Runs inside the transaction that changes the job, so it uses `trx` alone; a tap that throws rolls it back. */
  jobTransition: AsyncSeriesHook<[transition: JobTransition]>;
}

/**
 * Called after commit, all taps at once. A tap that throws is reported and the others go on; the call never rejects.
 * A tap may see a change again after a crash, or miss one: what must be exact belongs in `jobTransition`.
 */
export interface ObservationHooks {
  jobChanged: AsyncParallelHook<[Change<Job>]>;
  runChanged: AsyncParallelHook<[Change<Run>]>;
  nodeChanged: AsyncParallelHook<[Change<NodeRecord>]>;
  eventAppended: AsyncParallelHook<[EventRecord]>;
  pointsAppended: AsyncParallelHook<[PointBatch]>;
  linesAppended: AsyncParallelHook<[LineBatch]>;
}

/** `before` is null for a record that is new. */
export interface Change<T> {
  readonly before: T | null;
  readonly after: T;
}

export interface JobTransition extends Change<Job> {
  readonly trx: Db;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** An attempt on its way to an agent. `env` is what the process gets; `runner_plan` is the runner's own. */
export interface AttemptPlan {
  readonly job: Job;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly runner_plan: unknown;
}

export interface PointBatch {
  readonly run_id: string;
  readonly points: readonly MetricPoint[];
}

export interface LineBatch {
  readonly job_id: string;
  readonly attempt: number;
  readonly lines: readonly LogLine[];
}

export interface Hooks extends RegistrationHooks, DecisionHooks, ObservationHooks {}

/** What plugins see of the hooks: they tap during setup, with `ctx.name` as the tap's name. */
export type PublicHooks = {
  readonly [K in keyof RegistrationHooks]: Pick<RegistrationHooks[K], 'tap'>;
} & {
  readonly [K in keyof (DecisionHooks & ObservationHooks)]: Pick<
    (DecisionHooks & ObservationHooks)[K],
    'tap' | 'tapPromise'
  >;
};

/** For the plugin that owns the moment: `await ctx.fire.jobChanged({ before, after })`. */
export type Fire = {
  readonly [K in keyof (DecisionHooks & ObservationHooks)]: (DecisionHooks & ObservationHooks)[K]['promise'];
};
