import {
  withoutDirection,
  type CauseRecord,
  type Evidence,
  type FailureExplanation,
  type LogLine,
  type SemanticRule,
} from '@svc/contract';
import { concludeAll, likelyOf, toLikely, toNextActions, type Warn } from './conclude.js';
import { findTracebacks, lastUserFrame } from './evidence/traceback.js';
import { notFailed, toErrorSentence } from './explain.js';
import { diagnoseRun } from './next-actions.js';

/** For a run without a job: there is no log and no exit code, so the rules about runs decide, and what its SDK has reported. */
export function explainRun(
  evidence: Evidence['run'],
  rules: Iterable<SemanticRule>,
  log: Warn,
): FailureExplanation {
  const { run, summary } = evidence;
  const hasFailed = run.status === 'FAILED' || run.status === 'LOST';
  const concluded = hasFailed ? concludeAll('run', evidence, rules, log) : [];
  const best = likelyOf(concluded);
  const traceback = hasFailed ? reportedTraceback(evidence) : null;
  const actions = [...(best?.next_actions ?? []), ...diagnoseRun(summary)];
  return {
    run_id: run.id,
    job_id: run.job_id,
    attempt: run.attempt,
    status: run.status,
    exit_code: null,
    failure_reason: run.status === 'LOST' ? 'LOST' : null,
    failure_message: null,
    summary: withoutDirection(
      hasFailed ? summarize(run.status, best?.cause, traceback) : notFailed(run.status),
    ),
    ...toLikely(best?.cause),
    causes: concluded.map(({ cause }) => cause),
    traceback,
    last_errors: [],
    next_actions: toNextActions(actions, best?.cause.rule, log),
  };
}

/** Of the exception that ended the training, which the SDK reports as a critical event with `data.exception`. */
function reportedTraceback({ events }: Evidence['run']): FailureExplanation['traceback'] {
  const isException = ({ type, severity, data }: Event) =>
    type === 'CUSTOM' && severity === 'critical' && 'exception' in data;
  const event = latest(events.filter(isException));
  if (event === null) return null;
  const found = findTracebacks(toLines(event)).at(-1);
  return { error: found?.error?.text ?? event.title, frame: found ? lastUserFrame(found) : null };
}

type Event = Evidence['run']['events'][number];

function latest(events: readonly Event[]): Event | null {
  return events.reduce<Event | null>(
    (last, event) => (last !== null && last.created_at >= event.created_at ? last : event),
    null,
  );
}

function toLines({ message, created_at }: Event): LogLine[] {
  return message.split('\n').map((text, seq) => ({ seq, ts: created_at, stream: 'stderr', text }));
}

function summarize(
  status: string,
  cause: CauseRecord | undefined,
  traceback: FailureExplanation['traceback'],
): string {
  if (cause !== undefined) return `${cause.title}. ${cause.message}`;
  if (status === 'LOST')
    return 'No rule matched. Nothing has come from the run for too long: its process, its host or its network is gone.';
  if (traceback !== null) return `No rule matched. ${toErrorSentence(traceback)}`;
  return 'No rule matched. The run reported that it failed; it has no job, so svc has no log of it.';
}
