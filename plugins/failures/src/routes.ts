import {
  routes as contract,
  type EventRecord,
  type FailureExplanation,
  type Job,
  type JobAttempt,
  type Run,
  type SemanticRule,
} from '@svc/contract';
import { fail, ok, type PluginContext, type RouteCollector } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { Metrics } from '@svc/plugin-metrics';
import type { Runs } from '@svc/plugin-runs';
import type { ErrorIndex } from './error-index/error-index.js';
import { explainAttempt } from './explain.js';
import { explainRun } from './explain-run.js';
import { FAILURE_RULES } from './rules/index.js';

interface Sources {
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly index: ErrorIndex;
}

const MAX_EVENTS = 100;
/** A detector may see the last points after the attempt has ended. */
const LATE_MS = 60_000;

export function addRoutes(routes: RouteCollector, ctx: PluginContext, sources: Sources): void {
  const { jobs, runs, events, metrics, index } = sources;

  /** The built-in rules keep their order. */
  function rules(): SemanticRule[] {
    const builtIn: readonly SemanticRule[] = FAILURE_RULES as readonly SemanticRule[];
    return [
      ...builtIn,
      ...[...ctx.registered.semanticRules.values()].filter((rule) => !builtIn.includes(rule)),
    ];
  }

  async function requireAttempt(job: Job, wanted: number): Promise<JobAttempt> {
    const attempt = await jobs.attemptRecord(ctx.db, { job_id: job.id, attempt: wanted });
    return attempt ?? fail('not_found', `job ${job.id} has no attempt ${wanted}; its last is ${job.attempt}`);
  }

  /** `asked`: the run of that attempt that the question is about; without it the one that the attempt began with. */
  async function explainJob(job: Job, wanted: number, asked: Run | null = null): Promise<FailureExplanation> {
    const known = await requireAttempt(job, wanted);
    const attempt = asked === null ? known : withRun(known, asked);
    const { run_id } = attempt;
    const kept = await index.read({ job_id: job.id, attempt: wanted });
    const all = await events.list(ctx.db, run_id === null ? { job_id: job.id } : { run_id }, MAX_EVENTS);
    const run = asked ?? (run_id === null ? null : await runs.require(ctx.db, run_id));
    const summary = run === null ? null : await metrics.summary(run);
    const evidence = {
      ...{ job, attempt, summary },
      lines: kept.lines,
      events: run_id === null ? all.filter((event) => isDuring(attempt, event)) : all,
    };
    return explainAttempt(evidence, kept.errors, rules(), ctx.log);
  }

  async function explainWithoutJob(run: Run): Promise<FailureExplanation> {
    const found = await events.list(ctx.db, { run_id: run.id }, MAX_EVENTS);
    return explainRun({ run, summary: await metrics.summary(run), events: found }, rules(), ctx.log);
  }

  routes.add(contract.explainJobFailure, async ({ params, query }) => {
    const job = await jobs.require(ctx.db, params.job_id);
    return ok(await explainJob(job, query.attempt ?? job.attempt));
  });
  routes.add(contract.explainRunFailure, async ({ params, query }) => {
    const run = await runs.require(ctx.db, params.run_id);
    if (run.job_id === null || run.attempt === null) {
      if (query.attempt !== undefined) fail('not_found', `run ${run.id} has no job, and so no attempts`);
      return ok(await explainWithoutJob(run));
    }
    const job = await jobs.require(ctx.db, run.job_id);
    const wanted = query.attempt ?? run.attempt;
    return ok(await explainJob(job, wanted, wanted === run.attempt ? run : null));
  });
}

/** A run may fail within an attempt that goes on, or succeeds: the process reported it. */
function withRun(attempt: JobAttempt, { id, status }: Run): JobAttempt {
  return { ...attempt, run_id: id, ...(status === 'FAILED' && { status }) };
}

/** A job without a run has the events of all its attempts. */
function isDuring({ started_at, finished_at }: JobAttempt, { created_at }: EventRecord): boolean {
  return created_at >= (started_at ?? 0) && created_at <= (finished_at ?? Infinity) + LATE_MS;
}
