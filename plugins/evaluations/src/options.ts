import { Type } from 'typebox';

export const evaluationsOptions = Type.Object(
  {
    shared_paths: Type.Array(Type.String({ pattern: '^/' }), {
      default: [],
      description:
        'Absolute paths that every node has: an evaluation of a checkpoint below one may run on any node.',
    }),
    result_timeout_s: Type.Number({
      minimum: 1,
      default: 600,
      description: 'After so long without the result of a job that has succeeded, the evaluation is FAILED.',
    }),
  },
  { additionalProperties: false },
);
