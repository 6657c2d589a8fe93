import { toMetricValue, type MetricPoint } from '@svc/contract';
import type { SourcePoint } from '../reading/found-run.js';

const NAME_CHARACTERS = 250;

/** The point as the server takes it, or why it takes none such. */
export function checkPoint({ seq, name, step, value, ts, epoch }: SourcePoint): MetricPoint | string {
  const problem = nameProblem(name);
  if (problem !== null) return problem;
  if (!Number.isSafeInteger(seq) || seq < 0) return 'a seq that is no whole number from 0 on';
  if (!Number.isSafeInteger(step)) return 'a step that is no whole number';
  return {
    seq,
    name,
    step,
    value: toMetricValue(value),
    ...(ts !== undefined && { ts }),
    ...(epoch !== undefined && Number.isFinite(epoch) && { epoch }),
  };
}

function nameProblem(name: string): string | null {
  if (name === '') return 'a metric without a name';
  if (name.length > NAME_CHARACTERS && [...name].length > NAME_CHARACTERS)
    return `a metric whose name has more than ${NAME_CHARACTERS} characters`;
  if (/[\u0000-\u001f\u007f]|\p{Surrogate}/u.test(name))
    return 'a metric whose name has control characters or is no valid Unicode';
  return null;
}
