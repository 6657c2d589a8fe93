import {
  isTerminal,
  withoutDirection,
  type Diagnosis,
  type FailureExplanation,
  type Job,
  type NextActionRecord,
  type Run,
  type RunSummary,
  type ToolName,
} from '@svc/contract';
import type { Conclusions } from '@svc/plugin-failures';
import { isLoss } from '@svc/signals';
import type { Parts } from './parts.js';

export interface Subject {
  readonly run: Run;
  readonly job: Job | null;
  readonly summary: RunSummary;
  readonly failure: FailureExplanation | null;
  readonly conclusions: Conclusions;
}

type Found = Omit<Diagnosis, 'summary' | 'next_actions'>;

const MOST = 10;
const NAN_FIX = 'lower the learning rate, clip the gradients, or use bf16 instead of fp16.';

/** Best first, each once. */
export async function nextActions(parts: Parts, subject: Subject, found: Found): Promise<NextActionRecord[]> {
  const actions = [
    ...afterFailure(subject),
    ...afterNan(parts, subject),
    ...ofJob(subject),
    ...(await ofCourse(parts, subject, found)),
    ...subject.conclusions.next_actions,
  ];
  const isAgain = ({ tool, args }: NextActionRecord) =>
    tool === 'diagnose_run' && args['run_id'] === subject.run.id;
  const all = new Map<string, NextActionRecord>();
  for (const action of actions.filter((each) => !isAgain(each))) {
    const key = `${action.tool} ${JSON.stringify(action.args)}`;
    if (!all.has(key)) all.set(key, action);
  }
  return [...all.values()].slice(0, MOST);
}

function afterFailure({ run, failure }: Subject): NextActionRecord[] {
  if (failure === null) return [];
  const explain = toAction(
    'explain_failure',
    { run_id: run.id },
    'The explanation of the failure has all evidence for why the run failed.',
  );
  return [...failure.next_actions, explain];
}

/** From a NaN loss a training does not recover, and the same command ends the same way. */
function afterNan({ failures }: Parts, { run, job, summary, failure }: Subject): NextActionRecord[] {
  const names = Object.entries(summary.metrics)
    .filter(([name, { latest }]) => isLoss(name) && latest.value === 'NaN')
    .map(([name]) => name);
  if (names.length === 0) return [];
  const look = toAction(
    'query_metrics',
    { run_id: run.id, names: names.slice(0, MOST) },
    'The points before the first NaN show how it began.',
  );
  if (job === null || run.attempt === null || failure !== null) return [look];
  const isOpen = job.attempt === run.attempt && !isTerminal(job.status);
  const cancel = toAction(
    'cancel_job',
    { job_id: job.id, confirm: true },
    'All that it computes from here on is NaN as well.',
  );
  return [...failures.resubmit(job, run.attempt, NAN_FIX), ...(isOpen ? [cancel] : []), look];
}

/** Where the job has gone on with another attempt. */
function ofJob({ run, job }: Subject): NextActionRecord[] {
  if (job === null || run.attempt === null || job.attempt === run.attempt) return [];
  const went = `The job has gone on with attempt ${job.attempt}`;
  if (job.run_id !== null && job.run_id !== run.id)
    return [toAction('diagnose_run', { run_id: job.run_id }, `${went}, which has a run of its own.`)];
  return [toAction('get_job', { job_id: job.id }, `${went}, which is ${job.status.toLowerCase()}.`)];
}

async function ofCourse(
  { ctx, checkpoints }: Parts,
  { run, job }: Subject,
  { convergence, anomalies, health, last_point_at }: Found,
): Promise<NextActionRecord[]> {
  const { metric, direction, is_improving, is_stalled } = convergence;
  const { id: run_id } = run;
  const actions: NextActionRecord[] = [];
  const add = (tool: ToolName, args: NextActionRecord['args'], reason: string) =>
    void actions.push(toAction(tool, args, reason));
  const log = job && { job_id: job.id, ...(run.attempt !== null && { attempt: run.attempt }), tail: 200 };
  const isOverfitting = anomalies.some(({ kind }) => kind === 'OVERFITTING_SUSPECTED');
  const hasWarnings = anomalies.some(({ evidence }) => evidence.some((each) => 'event_id' in each));
  const isOver = run.status !== 'RUNNING' && run.status !== 'LOST';

  if (health.status === 'stale' && log)
    add('tail_logs', log, 'Nothing has come from the run for a while; its log may tell why.');
  if (last_point_at === null && log)
    add('tail_logs', log, 'The run has no points; its log shows what it does.');
  if (hasWarnings) add('list_events', { run_id }, 'The events show when it happened, and what came before.');
  if (metric !== null && direction !== null && (isOver || is_improving === false || isOverfitting)) {
    const saved = await checkpoints.ofRuns(ctx.db, [run_id]);
    const why = isOver
      ? 'The run is over'
      : isOverfitting
        ? 'The run may be overfitting'
        : `${metric} ${is_stalled ? 'is level' : 'is worse than its best'}`;
    if (saved.length > 0)
      add(
        'get_best_checkpoint',
        { run_id, metric },
        `${why}: its best checkpoint by ${metric} is the one to keep.`,
      );
  }
  if (metric !== null) {
    const course = isOver ? 'the whole course' : 'the course so far';
    add('query_metrics', { run_id, names: [metric] }, `The curve shows ${course}.`);
  }
  return actions;
}

function toAction(tool: ToolName, args: NextActionRecord['args'], reason: string): NextActionRecord {
  return { tool, args, reason: withoutDirection(reason) };
}
