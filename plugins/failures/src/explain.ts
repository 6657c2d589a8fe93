import {
  isTerminal,
  withoutDirection,
  type CauseRecord,
  type Evidence,
  type FailureExplanation,
  type LogLine,
  type NextAction,
  type SemanticRule,
} from '@svc/contract';
import { concludeAll, likelyOf, toLikely, toNextActions, type Concluded, type Warn } from './conclude.js';
import { readingOf } from './evidence/reading.js';
import { lastUserFrame, toFrame } from './evidence/traceback.js';
import { diagnoseRun, tailLogs } from './next-actions.js';

const SHOWN_ERRORS = 20;
/** Of a log without error lines. */
const SHOWN_LINES = 5;

/** `rules` in order: of causes with equal confidence the first stays first. `errors` are the error lines among those of the evidence. */
export function explainAttempt(
  evidence: Evidence['attempt'],
  errors: readonly LogLine[],
  rules: Iterable<SemanticRule>,
  log: Warn,
): FailureExplanation {
  const { job, attempt } = evidence;
  const isFailure = hasFailed(attempt);
  const concluded = isFailure ? concludeAll('attempt', evidence, rules, log) : [];
  const best = likelyOf(concluded);
  const traceback = isFailure ? tracebackOf(evidence) : null;
  return {
    run_id: attempt.run_id,
    job_id: job.id,
    attempt: attempt.attempt,
    status: attempt.status,
    exit_code: attempt.exit_code,
    failure_reason: attempt.failure_reason,
    failure_message: attempt.failure_message,
    summary: withoutDirection(
      isFailure ? summarize(evidence, best?.cause, traceback) : notFailed(attempt.status),
    ),
    ...toLikely(best?.cause),
    causes: concluded.map(({ cause }) => cause),
    traceback,
    last_errors: isFailure ? lastErrors(errors, evidence.lines).map((line) => ({ ...line })) : [],
    next_actions: toNextActions(nextActions(evidence, best), best?.cause.rule, log),
  };
}

/** Without error lines the last ones, those of stderr before others. */
function lastErrors(errors: readonly LogLine[], lines: readonly LogLine[]): readonly LogLine[] {
  if (errors.length > 0) return errors.slice(-SHOWN_ERRORS);
  const isError = ({ stream }: LogLine): boolean => stream === 'stderr';
  const others = lines.filter((line) => !isError(line));
  const chosen = new Set([...others, ...lines.filter(isError)].slice(-SHOWN_LINES));
  return lines.filter((line) => chosen.has(line));
}

function summarize(
  { attempt, lines }: Evidence['attempt'],
  cause: CauseRecord | undefined,
  traceback: FailureExplanation['traceback'],
): string {
  if (cause) return `${cause.title}. ${cause.message}`;
  const { failure_message } = attempt;
  const end =
    failure_message === null ? 'The run reported that it failed' : `The attempt failed: ${failure_message}`;
  return `No rule matched. ${end}. ${whereToLook(traceback, lines)}`;
}

function whereToLook(traceback: FailureExplanation['traceback'], lines: readonly LogLine[]): string {
  if (lines.length === 0) return 'Its log is empty.';
  if (!traceback?.error) return 'Its log has no Python error: read its last lines.';
  return toErrorSentence(traceback);
}

export function toErrorSentence({ error, frame }: NonNullable<FailureExplanation['traceback']>): string {
  const at = frame ? ` at line ${frame.line} of ${frame.file}` : '';
  return `Its last Python error is \`${error}\`${at}.`;
}

function hasFailed({ status }: Evidence['attempt']['attempt']): boolean {
  return status === 'FAILED' || status === 'LOST';
}

export function notFailed(status: string): string {
  if (status === 'CANCELLED') return 'It did not fail: somebody cancelled it.';
  if (status === 'SUCCEEDED' || status === 'IMPORTED') return 'It did not fail: it succeeded.';
  return `It has not failed: it is ${status}.`;
}

function tracebackOf(evidence: Evidence['attempt']): FailureExplanation['traceback'] {
  const { tracebacks, lines } = readingOf(evidence);
  const last = tracebacks.findLast(({ error }) => error !== null) ?? tracebacks.at(-1);
  if (last) return { error: last.error?.text ?? null, frame: lastUserFrame(last) };
  const at = lines.findLastIndex(({ text }) => /^(?:Syntax|Indentation|Tab)Error: /.test(text));
  const named = lines.slice(Math.max(0, at - 4), at).findLast(({ text }) => toFrame(text) !== null);
  return at >= 0 && named ? { error: lines[at]?.text ?? null, frame: toFrame(named.text) } : null;
}

function nextActions(evidence: Evidence['attempt'], best: Concluded | undefined): NextAction[] {
  // Re-running unchanged fails identically, whatever a rule of a third party concludes.
  const isFutile = ({ tool }: NextAction) =>
    tool === 'retry_job' && evidence.attempt.failure_reason === 'OOM';
  return (best?.next_actions ?? generalActions(evidence)).filter((action) => !isFutile(action));
}

/** When the attempt has not failed, or no rule knows why. */
function generalActions({ job, attempt, lines, summary }: Evidence['attempt']): NextAction[] {
  if (attempt.status === 'QUEUED' || attempt.status === 'DISPATCHING') return [getJob(job.id)];
  const isOver = isTerminal(attempt.status);
  const endOfLog = tailLogs(job, attempt.attempt, hasFailed(attempt) ? undefined : 'The end of its log.');
  return [
    ...(lines.length > 0 ? [endOfLog] : []),
    ...(isOver || attempt.status === 'RUNNING' ? diagnoseRun(summary) : []),
  ];
}

function getJob(job_id: string): NextAction {
  return { tool: 'get_job', args: { job_id }, reason: 'Its pending_reason says what the job waits for.' };
}
