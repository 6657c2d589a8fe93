import type { Job, JobAttempt } from '@svc/contract';
import { toPlainText } from './table.js';

const WORDS: Readonly<Record<NonNullable<JobAttempt['failure_reason']>, string>> = {
  EVALUATION_RESULT_INVALID: 'the evaluation left no valid result file',
  OOM: 'ran out of memory',
  EXIT_CODE: 'the command ended with an error',
  DISPATCH_FAILED: 'could not be started on the node',
  LOST: 'the connection to its node was lost',
  signal: 'was killed by a signal',
};

type Failure = Pick<JobAttempt, 'failure_message' | 'failure_reason' | 'exit_code'>;

/** How an attempt ended. Where the server says it in a sentence, nothing else repeats it. */
export function toFailureWords({ failure_message, failure_reason, exit_code }: Failure): string {
  if (failure_message) return toPlainText(failure_message);
  const code = exit_code === null ? '' : `exit code ${exit_code}`;
  return [failure_reason && WORDS[failure_reason], code].filter(Boolean).join(', ');
}

/** As `toFailureWords`, in a table that shows status and exit code in other columns: only what these do not say. */
export function toFailureNote(ended: Failure & Pick<Job, 'status'>): string {
  const isSaid = ended.status === 'SUCCEEDED' || ended.failure_reason === 'EXIT_CODE';
  return isSaid ? '' : toFailureWords(ended);
}
