import { Type } from 'typebox';
import { limit, listOf, nullable, route, strict } from '../route.js';
import { Direction, MetricDefinition, MetricDescription, MetricName, MetricUnit } from '../records/metric.js';

/** Names the level: neither is global, both is the experiment's. */
const level = {
  project_id: Type.Optional(nullable(Type.String())),
  experiment_id: Type.Optional(nullable(Type.String())),
};

const meaning = {
  direction: Type.Optional(Direction),
  is_primary: Type.Optional(Type.Boolean()),
  unit: Type.Optional(nullable(MetricUnit)),
  description: Type.Optional(MetricDescription),
};
const change = strict({ ...meaning, ...level });

export const listMetricDefinitions = route({
  id: 'metricDefinitions.list',
  method: 'GET',
  path: '/metric-definitions',
  scope: 'read',
  summary:
    'What applies there, nearest level first, one record per metric: the primary one, then those that people have set, then automatic ones, newest first. At most `limit`, without `before`: the order changes with what is primary or set.',
  query: strict({
    project_id: Type.Optional(Type.String()),
    experiment_id: Type.Optional(Type.String()),
    run_id: Type.Optional(
      Type.String({ description: 'What applies to that run; its project and experiment are known by it.' }),
    ),
    limit: limit(200),
  }),
  answers: { 200: listOf(MetricDefinition, 'ask for fewer with `limit`, or for one project alone') },
});

export const putMetricDefinition = route({
  id: 'metricDefinitions.put',
  method: 'PUT',
  path: '/metric-definitions/{name:path}',
  scope: 'write',
  summary: 'Create or update; what is left out stays, and on creation is as it applied there before.',
  body: change,
  answers: { 200: MetricDefinition, 201: MetricDefinition },
});

export const defineRunMetric = route({
  id: 'metricDefinitions.define',
  method: 'PUT',
  path: '/runs/{run_id}/metric-definitions/{name:path}',
  scope: 'ingest',
  summary: 'Create or update what a metric means in that run alone: the nearest level of all.',
  body: strict(meaning),
  answers: { 200: MetricDefinition, 201: MetricDefinition },
});

export const updateMetricDefinition = route({
  id: 'metricDefinitions.update',
  method: 'PATCH',
  path: '/metric-definitions/{name:path}',
  scope: 'write',
  summary: 'Change what that level has; 404 when it has no definition of the metric.',
  body: change,
  answers: { 200: MetricDefinition },
});

export const setPrimaryMetric = route({
  id: 'metricDefinitions.setPrimary',
  method: 'PUT',
  path: '/primary-metric',
  scope: 'write',
  summary: 'Set the primary metric of the level; the one before it is no longer primary.',
  body: strict({ name: MetricName, ...level }),
  answers: { 200: MetricDefinition },
});
