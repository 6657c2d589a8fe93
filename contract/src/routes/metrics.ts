import { Type, type Static } from 'typebox';
import { MIB } from '../protocol/limits.js';
import { limit, route, strict } from '../route.js';
import { MetricName, MetricPoint, RunSummary, SeriesByName } from '../records/metric.js';

const step = Type.Optional(
  Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
);
const range = { step_from: step, step_to: step, limit: limit(1000, 10_000) };
const names = Type.Optional(
  Type.String({ minLength: 1, description: 'One comma-separated value; left out: every metric of the run.' }),
);

export const writePoints = route({
  id: 'metrics.batch',
  method: 'POST',
  path: '/runs/{run_id}/metrics:batch',
  scope: 'ingest',
  summary: 'Write a batch, all or nothing, idempotent by (run_id, seq).',
  bodyLimitBytes: 16 * MIB,
  body: strict({ points: Type.Array(MetricPoint, { minItems: 1, maxItems: 10_000 }) }),
  answers: { 200: strict({ accepted: Type.Integer(), duplicates: Type.Integer() }) },
});

export const readSeries = route({
  id: 'metrics.series',
  method: 'GET',
  path: '/runs/{run_id}/metrics',
  scope: 'read',
  summary: 'Series by step; more than `limit` points are thinned keeping first, last, extremes and NaNs.',
  query: strict({
    names,
    window_s: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'Only points of the last seconds.' }),
    ),
    ...range,
  }),
  answers: { 200: strict({ run_id: Type.String(), series: SeriesByName }) },
});

export const queryMetrics = route({
  id: 'metrics.query',
  method: 'POST',
  path: '/runs/metrics:query',
  scope: 'read',
  summary: 'Series of several runs, keyed by run id.',
  body: strict({
    run_ids: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
    names: Type.Optional(Type.Array(MetricName, { minItems: 1, maxItems: 1000 })),
    ...range,
  }),
  answers: { 200: strict({ series: Type.Record(Type.String(), SeriesByName) }) },
});

export const PointsMessage = strict({
  points: Type.Array(
    strict({
      seq: MetricPoint.properties.seq,
      name: MetricPoint.properties.name,
      step: MetricPoint.properties.step,
      value: MetricPoint.properties.value,
      ts: Type.Integer(),
    }),
  ),
});
export type PointsMessage = Static<typeof PointsMessage>;

export const streamPoints = route({
  id: 'metrics.stream',
  method: 'GET',
  path: '/runs/{run_id}/metrics/stream',
  scope: 'read',
  summary:
    'Live points, at most 10 messages a second; repair by reading the series from a step_from watermark.',
  query: strict({ names }),
  stream: 'sse',
  event: PointsMessage,
});

export const getRunSummary = route({
  id: 'runs.summary',
  method: 'GET',
  path: '/runs/{run_id}/summary',
  scope: 'read',
  summary: 'Latest, trend and best per metric, and the health of the run.',
  answers: { 200: RunSummary },
});
