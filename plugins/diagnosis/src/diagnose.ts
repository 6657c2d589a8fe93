import type { Diagnosis, FailureExplanation, Run } from '@svc/contract';
import { anomaliesOf } from './anomalies.js';
import { convergenceOf } from './convergence.js';
import { gpuUse } from './gpu-use.js';
import { nextActions } from './next-actions.js';
import { paceOfRun, progressOf, slowness, throughputOf } from './pace.js';
import type { Parts } from './parts.js';
import { happenedTo } from './related-events.js';
import { summarize } from './summarize.js';

const SHOWN_ERRORS = 10;
const SHOWN_EVENTS = 100;

export async function diagnose(parts: Parts, run: Run): Promise<Diagnosis> {
  const { ctx, jobs, events, metrics, failures } = parts;
  const { db } = ctx;
  const now = ctx.clock.now();
  const { job_id, attempt: number } = run;
  const key = job_id === null || number === null ? null : { job_id, attempt: number };
  const job = key && (await jobs.get(db, key.job_id));
  const attempt = key && (await jobs.attempt(db, key));
  const signs = await metrics.signs(run);
  const { summary, reasons, received_at } = signs;
  const conclusions = failures.conclude({
    run,
    summary,
    events: await events.list(db, { run_id: run.id }, SHOWN_EVENTS),
  });
  const warnings = await happenedTo(parts, run, attempt, now);
  const pace = paceOfRun(signs.longest);
  const throughput = throughputOf(signs.longest, pace);
  const found = {
    run_id: run.id,
    job_id,
    attempt: number,
    status: run.status,
    progress: progressOf(summary, signs.longest, pace),
    convergence: await convergenceOf(parts, run, signs, warnings),
    anomalies: anomaliesOf({
      reasons,
      causes: conclusions.causes,
      events: warnings,
      slow: run.status === 'RUNNING' ? slowness(throughput, signs.longest, pace) : null,
    }),
    health: summary.health,
    health_warnings: reasons.map(({ status, message, evidence }) => ({
      status,
      message,
      evidence: evidence.map((citation) => ({ ...citation })),
    })),
    throughput,
    gpu: attempt && (await gpuUse(parts.nodeMetrics, run, attempt, now)),
    last_point_at: received_at,
    since_last_point_s: received_at === null ? null : Math.max(0, now - received_at) / 1000,
    last_errors: key ? [...(await failures.lastErrors(key, SHOWN_ERRORS))] : [],
  };
  const failure = await failureOf(parts, run);
  const subject = { run, job, summary, failure, conclusions };
  return {
    ...found,
    summary: summarize(found, failure),
    next_actions: await nextActions(parts, subject, found),
  };
}

async function failureOf({ failures }: Parts, run: Run): Promise<FailureExplanation | null> {
  return run.status === 'FAILED' || run.status === 'LOST' ? failures.explain(run) : null;
}
