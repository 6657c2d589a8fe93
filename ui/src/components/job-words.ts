import type { Job, JobAttempt } from '@svc/contract';
import { plural } from '../format.js';

const REASONS: Readonly<Record<string, string>> = {
  EVALUATION_RESULT_INVALID: 'the evaluation left no valid result file',
  OOM: 'out of memory',
  EXIT_CODE: 'the command ended with an error',
  DISPATCH_FAILED: 'it could not be started on the node',
  LOST: 'the connection to its node was lost',
  signal: 'the process was killed by a signal',
};

/** `2 GPUs` or `CPU`. */
export function describeResources({ resources }: Pick<Job, 'resources'>): string {
  return resources.gpu > 0 ? plural(resources.gpu, 'GPU') : 'CPU';
}

/** `vision / resnet`. */
export function describePlace({ project, experiment }: Job): string {
  return [project, experiment].filter(Boolean).join(' / ') || '–';
}

/** Why the job waits, failed or was lost, in a sentence; null when there is nothing to explain. */
export function describeOutcome(job: Job): string | null {
  if (job.status === 'QUEUED') return job.pending_reason ?? 'waiting to be scheduled';
  if (job.status === 'FAILED' || job.status === 'LOST') return describeFailure(job);
  return null;
}

/** Why an attempt ended as it did: in words, and in those of the server; null where there is nothing to explain. */
export function explainAttempt({ failure_reason, failure_message }: JobAttempt) {
  return { words: failure_reason && (REASONS[failure_reason] ?? failure_reason), details: failure_message };
}

/** The server's sentence has the exit code in it. */
function describeFailure({ failure_reason, failure_message, exit_code }: Job): string | null {
  if (failure_message) return failure_message;
  const code = exit_code === null ? null : `exit code ${exit_code}`;
  return [failure_reason && REASONS[failure_reason], code].filter(Boolean).join(' · ') || null;
}
