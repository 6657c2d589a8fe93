import type { Exit, FailureReason, JobTrigger } from '@svc/contract';

/** How an attempt is told once its process has ended. */
export interface Outcome {
  readonly trigger: JobTrigger;
  readonly exit_code: number | null;
  readonly failure_reason: FailureReason | null;
  readonly failure_message: string | null;
}

/** `lost` is not here: it is no end, nobody knows. */
export type KnownExit = Exclude<Exit, { kind: 'lost' }>;

/** What a cancelled running job shows, however its process took the signal. */
const CANCELLED_EXIT_CODE = -15;

export function toOutcome(exit: KnownExit, nodeName: string): Outcome {
  switch (exit.kind) {
    case 'exited':
      if (exit.code === 0)
        return { trigger: 'exited_ok', exit_code: 0, failure_reason: null, failure_message: null };
      return failed(exit.code, 'EXIT_CODE', describeExit(exit));
    case 'signaled':
      return failed(exit.code, 'signal', describeExit(exit));
    case 'oom':
      return failed(exit.code, 'OOM', describeExit(exit));
    case 'dispatch_failed':
      return {
        trigger: 'dispatch_failed',
        exit_code: null,
        failure_reason: 'DISPATCH_FAILED',
        failure_message: `could not be started on ${nodeName}: ${exit.message}`,
      };
  }
}

/** Of an attempt that somebody asked to cancel; `exit` null: it never started, or nobody can say how it ended. */
export function toCancelled(exit: KnownExit | null): Outcome {
  const ran = exit !== null && exit.kind !== 'dispatch_failed';
  return {
    trigger: 'cancelled',
    exit_code: ran ? CANCELLED_EXIT_CODE : null,
    failure_reason: null,
    failure_message: ran ? `cancelled; the process ${describeExit(exit)}` : 'cancelled',
  };
}

export function describeExit(exit: KnownExit): string {
  switch (exit.kind) {
    case 'exited':
      return `exited with code ${exit.code}`;
    case 'signaled':
      return `was killed by ${exit.signal} (${exit.code})`;
    case 'oom':
      return `ran out of memory and was killed${exit.code === null ? '' : ` (${exit.code})`}`;
    case 'dispatch_failed':
      return `was not started: ${exit.message}`;
  }
}

function failed(exitCode: number | null, reason: FailureReason, message: string): Outcome {
  return { trigger: 'exited_bad', exit_code: exitCode, failure_reason: reason, failure_message: message };
}
