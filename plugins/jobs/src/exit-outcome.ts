import { withoutDirection, type Exit, type FailureReason, type JobTrigger } from '@svc/contract';

/** What the record of an attempt says once its process has ended. */
export interface Outcome {
  readonly trigger: JobTrigger;
  readonly exit_code: number | null;
  readonly failure_reason: FailureReason | null;
  readonly failure_message: string | null;
}

/** Without `lost`, which means that it is unknown how the attempt ended. */
export type KnownExit = Exclude<Exit, { kind: 'lost' }>;

/** The exit code of a cancelled job that was running, whatever its process returned. */
const CANCELLED_EXIT_CODE = -15;

export function toOutcome(exit: KnownExit, nodeName: string): Outcome {
  switch (exit.kind) {
    case 'exited':
      if (exit.code === 0)
        return { trigger: 'exited_ok', exit_code: 0, failure_reason: null, failure_message: null };
      return failed(exit, 'EXIT_CODE');
    case 'signaled':
      return failed(exit, 'signal');
    case 'oom':
      return failed(exit, 'OOM');
    case 'result_invalid':
      return failed({ ...exit, code: 0 }, 'EVALUATION_RESULT_INVALID');
    case 'dispatch_failed':
      return toDispatchFailed(`could not be started on ${nodeName}: ${exit.message}`);
  }
}

/** For an attempt that never had a process. */
export function toDispatchFailed(message: string): Outcome {
  return {
    trigger: 'dispatch_failed',
    exit_code: null,
    failure_reason: 'DISPATCH_FAILED',
    failure_message: toPlainText(message),
  };
}

/** For an attempt whose cancel was requested; `exit` null: it never started, or it is unknown how it ended. */
export function toCancelled(exit: KnownExit | null): Outcome {
  const ran = exit !== null && exit.kind !== 'dispatch_failed';
  return {
    trigger: 'cancelled',
    exit_code: ran ? CANCELLED_EXIT_CODE : null,
    failure_reason: null,
    failure_message: ran ? toPlainText(`cancelled; the process ${describeExit(exit)}`) : 'cancelled',
  };
}

export function describeExit(exit: KnownExit): string {
  switch (exit.kind) {
    case 'exited':
      return `exited with code ${exit.code}`;
    case 'signaled':
      return `was killed by ${exit.signal}`;
    case 'oom':
      return describeOom(exit);
    case 'result_invalid':
      return `exited with code 0 and left no valid result: ${exit.message}`;
    case 'dispatch_failed':
      return `was not started: ${exit.message}`;
  }
}

function describeOom({ code, evidence }: Extract<KnownExit, { kind: 'oom' }>): string {
  if (evidence !== undefined) return `ran out of memory: ${evidence}`;
  // A positive code means that the kernel killed a child of the job's process, which then exited by itself.
  return `${code !== null && code > 0 ? 'a process of it ' : ''}ran out of memory and was killed`;
}

function failed(exit: KnownExit & { code: number | null }, reason: FailureReason): Outcome {
  const exitCode = exit.code === null ? null : Math.max(-MAX_CODE, Math.min(exit.code, MAX_CODE));
  return {
    trigger: 'exited_bad',
    exit_code: exitCode,
    failure_reason: reason,
    failure_message: toPlainText(describeExit(exit)),
  };
}

/** The largest value of the integer column. */
const MAX_CODE = 2 ** 31 - 1;
const MAX_TEXT_LENGTH = 4000;

/** A sentence with a text from an agent, in a form that every database can store: without NUL, and limited in length. */
export function toPlainText(text: string): string {
  return withoutDirection(text).replaceAll('\u0000', ' ').slice(0, MAX_TEXT_LENGTH);
}
