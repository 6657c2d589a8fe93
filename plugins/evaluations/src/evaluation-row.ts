import type { Evaluation } from '@svc/contract';
import { fromJson } from '@svc/kernel';

/** A row of `evaluations`. Times in ms. */
export interface EvaluationRow extends Omit<Evaluation, 'metrics'> {
  /** JSON; that of a result that has come, also while the job still runs. */
  readonly metrics: string;
  /** Of its job: the one that it mirrors. */
  readonly attempt: number;
  /** The attempt that the result is of; null: none has come. */
  readonly result_attempt: number | null;
  /** Since when the job has succeeded and its result has not come; null while that is not so. */
  readonly awaited_since: number | null;
}

/** A result shows once the evaluation has SUCCEEDED. */
export function toEvaluation({
  attempt: _attempt,
  result_attempt: _result,
  awaited_since: _awaited,
  ...row
}: EvaluationRow): Evaluation {
  if (row.status !== 'SUCCEEDED') return { ...row, metrics: {}, runtime_s: null };
  return { ...row, metrics: fromJson<Evaluation['metrics']>(row.metrics) };
}
