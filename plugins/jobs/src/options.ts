import { Type, type Static } from 'typebox';

const seconds = (fallback: number, description: string) =>
  Type.Number({ minimum: 0, default: fallback, description });

export const jobsOptions = Type.Object(
  {
    tick_s: Type.Number({
      minimum: 0.01,
      default: 2,
      description: 'The scheduler looks at the queue at least so often.',
    }),
    ack_timeout_s: seconds(
      10,
      'An agent that has not acknowledged a dispatch by then loses it: the job is queued again.',
    ),
    kill_grace_s: seconds(10, 'From SIGTERM to SIGKILL when a job is cancelled.'),
    starvation_after_s: seconds(
      600,
      'For a job that has waited so long at the head, a node that fits it is kept free.',
    ),
    lost_retry_after_s: seconds(600, 'A LOST job is retried once its node has been OFFLINE for so long.'),
    retry_backoff_s: seconds(5, 'Wait before the first automatic retry; doubles with each attempt.'),
    retry_backoff_max_s: seconds(300, 'The longest wait before an automatic retry.'),
  },
  { additionalProperties: false },
);
export type JobsOptions = Static<typeof jobsOptions>;

/** The options in milliseconds. */
export interface Timing {
  readonly tickMs: number;
  readonly ackTimeoutMs: number;
  readonly killGraceMs: number;
  readonly starvationAfterMs: number;
  readonly lostRetryAfterMs: number;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
}

export function toTiming(options: JobsOptions): Timing {
  const ms = (seconds: number) => Math.round(seconds * 1000);
  return {
    tickMs: ms(options.tick_s),
    ackTimeoutMs: ms(options.ack_timeout_s),
    killGraceMs: ms(options.kill_grace_s),
    starvationAfterMs: ms(options.starvation_after_s),
    lostRetryAfterMs: ms(options.lost_retry_after_s),
    backoff: { firstMs: ms(options.retry_backoff_s), maxMs: ms(options.retry_backoff_max_s) },
  };
}
