import { Type, type Static } from 'typebox';

export const runsOptions = Type.Object(
  {
    run_lost_after_s: Type.Number({
      minimum: 1,
      default: 600,
      description:
        'A run without a job that has reported nothing for this time is LOST. It is stale after half of it. The SDK sends a sign of life every 30 s.',
    }),
  },
  { additionalProperties: false },
);
export type RunsOptions = Static<typeof runsOptions>;
