/** What a run says of its progress. `status`: one of `RUN_STATUSES`. */
interface Steps {
  readonly status: string;
  readonly step: number | null;
  readonly max_steps: number | null;
}

/**
 * How much of its plan a run has done, from 0 to 1: `step` of `max_steps`. A training that has ended well did all its steps: the last one of those that
 * are counted from 0 is one below the maximum. null without a step or a plan.
 */
export function partDone({ status, step, max_steps: max }: Steps): number | null {
  if (step === null || max === null || max <= 0) return null;
  if (status === 'SUCCEEDED' && step === max - 1) return 1;
  return Math.min(1, Math.max(0, step / max));
}

/** As a whole percentage. A run that goes on is not at 100: after its last step it still evaluates and saves. */
export function percentDone(steps: Steps): number | null {
  const part = partDone(steps);
  if (part === null) return null;
  return Math.min(Math.floor(part * 100), steps.status === 'RUNNING' ? 99 : 100);
}
