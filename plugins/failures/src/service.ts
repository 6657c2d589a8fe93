import type {
  AttemptKey,
  CauseRecord,
  Evidence,
  FailureExplanation,
  Job,
  LogLine,
  NextActionRecord,
  Run,
} from '@svc/contract';
import { serviceRef } from '@svc/kernel';

export interface Failures {
  /** The last error lines of the log, oldest first. The key in canonical form. */
  lastErrors(key: AttemptKey, count: number): Promise<readonly LogLine[]>;
  /** What `GET /runs/{run_id}/failure` answers. */
  explain(run: Run): Promise<FailureExplanation>;
  /** What the rules about runs conclude, those of third parties too; the most confident first. */
  conclude(evidence: Evidence['run']): Conclusions;
  /** The job again, with the command of it as the base, after this change: re-running it unchanged fails identically. */
  resubmit(job: Job, attempt: number, fix: string): NextActionRecord[];
}

export interface Conclusions {
  readonly causes: readonly CauseRecord[];
  /** Those that their tools take. */
  readonly next_actions: readonly NextActionRecord[];
}

export const failuresRef = serviceRef<Failures>('failures');
