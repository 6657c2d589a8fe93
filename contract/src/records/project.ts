import { Type, type Static } from 'typebox';
import { Timestamp, nullable, strict } from '../route.js';

/** A name that people choose: 1 to 200 characters, no control characters, not blank. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$',
  description:
    'A name of 1 to 200 characters without line breaks and other control characters, such as resnet-50. It is not blank.',
});

export const Project = strict(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    run_count: Type.Integer(),
    created_at: Timestamp,
  },
  { $id: 'Project' },
);
export type Project = Static<typeof Project>;

export const Experiment = strict(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    project_id: Type.String(),
    run_count: Type.Integer(),
    created_at: Timestamp,
  },
  { $id: 'Experiment' },
);
export type Experiment = Static<typeof Experiment>;

/** Where a job or run belongs; both null when neither project nor experiment was named. */
export const Placement = { project_id: nullable(Type.String()), experiment_id: nullable(Type.String()) };
