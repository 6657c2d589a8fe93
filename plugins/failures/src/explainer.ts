import type { EventRecord, FailureExplanation, Job, JobAttempt, Run, SemanticRule } from '@svc/contract';
import { fail, type PluginContext } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { Jobs } from '@svc/plugin-jobs';
import type { Metrics } from '@svc/plugin-metrics';
import type { Runs } from '@svc/plugin-runs';
import type { ErrorIndex } from './error-index/error-index.js';
import { explainAttempt } from './explain.js';
import { explainRun } from './explain-run.js';
import { FAILURE_RULES } from './rules/index.js';

export interface Sources {
  readonly ctx: PluginContext;
  readonly jobs: Jobs;
  readonly runs: Runs;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly index: ErrorIndex;
}

const MAX_EVENTS = 100;
/** A detector may see the last points after the attempt has ended. */
const LATE_MS = 60_000;

/** Gathers the evidence and explains it. */
export class Explainer {
  constructor(private readonly sources: Sources) {}

  /** The built-in rules keep their order. */
  get rules(): readonly SemanticRule[] {
    const builtIn: readonly SemanticRule[] = FAILURE_RULES as readonly SemanticRule[];
    const { semanticRules } = this.sources.ctx.registered;
    return [...builtIn, ...[...semanticRules.values()].filter((rule) => !builtIn.includes(rule))];
  }

  /**
   * `asked`: the run of that attempt that the question is about; without it the one that the attempt began with. Throws not_found for an
   * attempt that there is not.
   */
  async ofJob(job: Job, wanted: number, asked: Run | null = null): Promise<FailureExplanation> {
    const { ctx, runs, events, metrics, index } = this.sources;
    const known = await this.#requireAttempt(job, wanted);
    const attempt = asked === null ? known : withRun(known, asked);
    const { run_id } = attempt;
    const kept = await index.read({ job_id: job.id, attempt: wanted });
    const all = await events.list(ctx.db, run_id === null ? { job_id: job.id } : { run_id }, MAX_EVENTS);
    const run = asked ?? (run_id === null ? null : await runs.require(ctx.db, run_id));
    const summary = run === null ? null : await metrics.summary(run);
    const evidence = {
      job,
      attempt,
      summary,
      lines: kept.lines,
      events: run_id === null ? all.filter((event) => isDuring(attempt, event)) : all,
    };
    return explainAttempt(evidence, kept.errors, this.rules, ctx.log);
  }

  /** In the attempt of its job that the run belongs to, or in another one. Throws not_found for an attempt that there is not. */
  async ofRun(run: Run, attempt?: number): Promise<FailureExplanation> {
    const { ctx, jobs } = this.sources;
    if (run.job_id === null || run.attempt === null) {
      if (attempt !== undefined) fail('not_found', `run ${run.id} has no job, and so no attempts`);
      return this.#withoutJob(run);
    }
    const job = await jobs.require(ctx.db, run.job_id);
    const wanted = attempt ?? run.attempt;
    return this.ofJob(job, wanted, wanted === run.attempt ? run : null);
  }

  async #withoutJob(run: Run): Promise<FailureExplanation> {
    const { ctx, events, metrics } = this.sources;
    const found = await events.list(ctx.db, { run_id: run.id }, MAX_EVENTS);
    return explainRun({ run, summary: await metrics.summary(run), events: found }, this.rules, ctx.log);
  }

  async #requireAttempt(job: Job, wanted: number): Promise<JobAttempt> {
    const { ctx, jobs } = this.sources;
    const attempt = await jobs.attemptRecord(ctx.db, { job_id: job.id, attempt: wanted });
    return attempt ?? fail('not_found', `job ${job.id} has no attempt ${wanted}; its last is ${job.attempt}`);
  }
}

/** A run may fail within an attempt that goes on, or succeeds: the process reported it. */
function withRun(attempt: JobAttempt, { id, status }: Run): JobAttempt {
  return { ...attempt, run_id: id, ...(status === 'FAILED' && { status }) };
}

/** A job without a run has the events of all its attempts. */
function isDuring({ started_at, finished_at }: JobAttempt, { created_at }: EventRecord): boolean {
  return created_at >= (started_at ?? 0) && created_at <= (finished_at ?? Infinity) + LATE_MS;
}
