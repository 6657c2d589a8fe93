import type { CauseRecord, Evidence, FailureExplanation, SemanticRule } from '@svc/contract';
import { concludeAll, likelyOf, toLikely, toNextActions, type Warn } from './conclude.js';
import { notFailed } from './explain.js';
import { diagnoseRun } from './next-actions.js';

/** For a run without a job: there is no log and no exit code, so the rules about runs decide. */
export function explainRun(
  evidence: Evidence['run'],
  rules: Iterable<SemanticRule>,
  log: Warn,
): FailureExplanation {
  const { run } = evidence;
  const hasFailed = run.status === 'FAILED' || run.status === 'LOST';
  const concluded = hasFailed ? concludeAll('run', evidence, rules, log) : [];
  const best = likelyOf(concluded);
  const actions = [...(best?.next_actions ?? []), diagnoseRun(run.id)];
  return {
    run_id: run.id,
    job_id: run.job_id,
    attempt: run.attempt,
    status: run.status,
    exit_code: null,
    failure_reason: run.status === 'LOST' ? 'LOST' : null,
    failure_message: null,
    summary: hasFailed ? summarize(run.status, best?.cause) : notFailed(run.status),
    ...toLikely(best?.cause),
    causes: concluded.map(({ cause }) => cause),
    traceback: null,
    last_errors: [],
    next_actions: toNextActions(actions, best?.cause.rule, log),
  };
}

function summarize(status: string, cause: CauseRecord | undefined): string {
  if (cause !== undefined) return `${cause.title}. ${cause.message}`;
  if (status === 'LOST')
    return 'No rule matched. Nothing has come from the run for too long: its process, its host or its network is gone.';
  return 'No rule matched. The run reported that it failed; it has no job, so svc has no log of it.';
}
