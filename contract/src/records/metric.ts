import { Type, type Static } from 'typebox';
import {
  DIRECTIONS,
  HEALTH_STATUSES,
  METRIC_LEVELS,
  NON_FINITE_VALUES,
  TREND_NAMES,
} from '../protocol/enums.js';
import { Timestamp, nullable, strict, text } from '../route.js';
import { Placement } from './project.js';
import { RunStatusName } from './run.js';

/** A number, or the word for one that JSON cannot write. */
export const MetricValue = Type.Union([Type.Number(), Type.Enum([...NON_FINITE_VALUES])]);
export type MetricValue = Static<typeof MetricValue>;

export const MetricName = Type.String({
  minLength: 1,
  maxLength: 250,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
  description: '1 to 250 characters, none of them a control character.',
});

const MAX_SAFE = Number.MAX_SAFE_INTEGER;

export const MetricPoint = strict(
  {
    seq: Type.Integer({ minimum: 0, maximum: MAX_SAFE }),
    name: MetricName,
    step: Type.Integer({ minimum: -MAX_SAFE, maximum: MAX_SAFE }),
    value: MetricValue,
    ts: Type.Optional(Timestamp),
    epoch: Type.Optional(Type.Number()),
  },
  { $id: 'MetricPoint' },
);
export type MetricPoint = Static<typeof MetricPoint>;

/** Columns of equal length, by step ascending. `total` counts the points of the range before thinning. */
export const Series = strict(
  {
    steps: Type.Array(Type.Integer()),
    values: Type.Array(MetricValue),
    ts: Type.Array(Timestamp),
    epochs: Type.Optional(
      Type.Array(nullable(Type.Number()), {
        description:
          'Where a point of the answer has an epoch; null for a point without one, and for some points of a thinned series.',
      }),
    ),
    total: Type.Integer(),
    downsampled: Type.Boolean(),
  },
  { $id: 'Series' },
);
export type Series = Static<typeof Series>;
export const SeriesByName = Type.Record(Type.String(), Series);
export type SeriesByName = Static<typeof SeriesByName>;

export const Trend = Type.Enum([...TREND_NAMES]);
export type Trend = Static<typeof Trend>;
export const Direction = Type.Enum([...DIRECTIONS]);
export type Direction = Static<typeof Direction>;

/** Where a direction comes from. It is unknown when it is guessed from nothing. */
const DirectionOrigin = {
  guessed: Type.Boolean({ description: 'Nobody has set the direction.' }),
  guessed_from: nullable(
    Type.String({
      description:
        'The word of the name that a guessed direction comes from; null for none, which makes it `minimize`: then show no best value.',
    }),
  ),
};

export const MetricSummary = strict({
  latest: strict({ value: MetricValue, step: Type.Integer(), ts: Timestamp }),
  best: nullable(
    strict(
      { value: MetricValue, step: Type.Integer() },
      { description: 'null without a finite value, and while the direction is unknown.' },
    ),
  ),
  trend: Trend,
  direction: Direction,
  ...DirectionOrigin,
  is_primary: Type.Boolean(),
  count: Type.Integer(),
});
export type MetricSummary = Static<typeof MetricSummary>;

export const RunHealth = strict({
  status: Type.Enum([...HEALTH_STATUSES]),
  reasons: Type.Array(Type.String()),
});
export type RunHealth = Static<typeof RunHealth>;

export const RunSummary = strict(
  {
    run_id: Type.String(),
    status: RunStatusName,
    step: nullable(Type.Integer()),
    epoch: nullable(Type.Number()),
    max_steps: nullable(Type.Integer()),
    progress: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'step of max_steps; 1 also for a run that SUCCEEDED with max_steps - 1 as its last step.',
      }),
    ),
    health: RunHealth,
    metrics: Type.Record(Type.String(), MetricSummary),
  },
  { $id: 'RunSummary' },
);
export type RunSummary = Static<typeof RunSummary>;

export const MetricLevel = Type.Enum([...METRIC_LEVELS]);
export type MetricLevel = Static<typeof MetricLevel>;

export const MetricUnit = text(50);
export const MetricDescription = text(10_000);

/** `auto`: made when the metric was first seen, and not changed since. An experiment's has its project's id too. */
export const MetricDefinition = strict(
  {
    name: MetricName,
    direction: Direction,
    ...DirectionOrigin,
    is_primary: Type.Boolean(),
    level: MetricLevel,
    ...Placement,
    run_id: Type.Optional(Type.String({ description: 'At the level `run` alone.' })),
    auto: Type.Boolean(),
    unit: nullable(MetricUnit),
    description: MetricDescription,
  },
  { $id: 'MetricDefinition' },
);
export type MetricDefinition = Static<typeof MetricDefinition>;
