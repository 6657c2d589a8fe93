import type { JobAttempt } from '@svc/contract';
import { toPlainText } from './table.js';

const WORDS: Readonly<Record<NonNullable<JobAttempt['failure_reason']>, string>> = {
  EVALUATION_RESULT_INVALID: 'the evaluation left no valid result file',
  OOM: 'ran out of memory',
  EXIT_CODE: 'the command ended with an error',
  DISPATCH_FAILED: 'could not be started on the node',
  LOST: 'the connection to its node was lost',
  signal: 'was killed by a signal',
};

/** How an attempt ended. The server says it in a sentence, with the exit code; then nothing else repeats it. */
export function toFailureWords({
  failure_message,
  failure_reason,
  exit_code,
}: Pick<JobAttempt, 'failure_message' | 'failure_reason' | 'exit_code'>): string {
  if (failure_message) return toPlainText(failure_message);
  const code = exit_code === null ? '' : `exit code ${exit_code}`;
  return [failure_reason && WORDS[failure_reason], code].filter(Boolean).join(', ');
}
