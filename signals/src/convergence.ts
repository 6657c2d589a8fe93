import type { Direction, Trend } from '@svc/contract';

export interface Course {
  /** null while the trend is unknown, or it is not known which values are better. */
  readonly is_improving: boolean | null;
  /** Only while the trend is stable. */
  readonly is_stalled: boolean;
}

/** `direction` null: unknown. */
export function courseOf(trend: Trend, direction: Direction | null): Course {
  const wanted = direction === 'minimize' ? 'decreasing' : 'increasing';
  const isKnown = trend !== 'unknown' && direction !== null;
  return { is_improving: isKnown ? trend === wanted : null, is_stalled: trend === 'stable' };
}
