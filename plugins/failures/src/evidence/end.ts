import type { Citation, FailureReason, JobAttempt } from '@svc/contract';

const OF_GPU = /\b(?:CUDA|HIP|MPS|RESOURCE_EXHAUSTED|cupy)\b|OutOfMemoryError/;

/** How an attempt ended, as evidence. */
export function hasReason(attempt: JobAttempt, reason: FailureReason): Citation[] | null {
  return attempt.failure_reason === reason ? citeEnd(attempt) : null;
}

/** A shell ends with 128 and the number of the signal that killed its program. */
export function hasExit(attempt: JobAttempt, codes: readonly number[]): Citation[] | null {
  const { exit_code, failure_reason } = attempt;
  const isOfProcess = failure_reason === 'signal' || failure_reason === 'EXIT_CODE';
  return isOfProcess && exit_code !== null && codes.includes(exit_code) ? citeEnd(attempt) : null;
}

/** The agent names the error that it found in the log; without one the kernel's record told it. */
export function isKilledForMemory({ failure_reason, failure_message }: JobAttempt): boolean {
  return failure_reason === 'OOM' && /ran out of memory and was killed/.test(failure_message ?? '');
}

/** The agent names the error of a GPU that it found in the log. */
export function isOutOfGpuMemory({ failure_reason, failure_message }: JobAttempt): boolean {
  return failure_reason === 'OOM' && OF_GPU.test(failure_message ?? '');
}

/** The agent found an error in the log that nothing shows to be one of a GPU. */
export function isOutOfHostMemory(attempt: JobAttempt): boolean {
  return attempt.failure_reason === 'OOM' && !isKilledForMemory(attempt) && !isOutOfGpuMemory(attempt);
}

function citeEnd({ exit_code, failure_reason, failure_message }: JobAttempt): Citation[] {
  const fields = { exit_code, failure_reason, failure_message };
  return Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([field, value]) => ({ field, value: String(value) }));
}
