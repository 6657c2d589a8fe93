interface Progress {
  readonly step: number;
  /** Above 0. */
  readonly max: number;
  readonly status: string;
}

/** From 0 to 1. A training that has ended well did all its steps: the last one of those that are counted from 0 is one below the maximum. */
export function partDone({ step, max, status }: Progress): number {
  if (status === 'SUCCEEDED' && step === max - 1) return 1;
  return Math.min(1, Math.max(0, step / max));
}

/** A run that goes on is not at 100 %: after its last step it still evaluates and saves. */
export function percentDone(progress: Progress): number {
  return Math.min(Math.floor(partDone(progress) * 100), progress.status === 'RUNNING' ? 99 : 100);
}
