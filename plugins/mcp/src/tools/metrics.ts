import {
  MetricDefinition,
  MetricSummary,
  RunSummary,
  nullable,
  routes,
  strict,
  type MetricSummary as Summary,
  type SeriesByName,
} from '@svc/contract';
import { Type } from 'typebox';
import { ThinSeries, thin } from '../answer/series.js';
import { toWhole } from './pages.js';
import { defineTool, only, pick, toAction, type Call } from './tool.js';

const Metric = strict({
  name: Type.String(),
  latest: MetricSummary.properties.latest.properties.value,
  step: Type.Integer(),
  best: nullable(Type.Union([Type.Number(), Type.String()])),
  best_step: nullable(Type.Integer()),
  ...pick(MetricSummary, 'trend', 'direction', 'is_primary', 'count'),
});

function toMetric([name, { latest, best, trend, direction, is_primary, count }]: [string, Summary]) {
  return {
    name,
    latest: latest.value,
    step: latest.step,
    best: best?.value ?? null,
    best_step: best?.step ?? null,
    trend,
    direction,
    is_primary,
    count,
  };
}

const RunFields = pick(RunSummary, 'run_id', 'status', 'step', 'epoch', 'max_steps', 'progress', 'health');

export const getRunSummary = defineTool(
  {
    name: 'get_run_summary',
    title: 'Run summary',
    description:
      'One run: progress, health, and of each metric the latest and the best value and the trend, the primary metric first.',
    group: 'observe',
    output: RunFields,
    list: ['metrics', Metric],
  },
  async ({ client, signal }, args) => {
    const summary = await client.call(routes.getRunSummary, { params: { run_id: args.run_id }, signal });
    const metrics = Object.entries(summary.metrics)
      .sort(([, a], [, b]) => Number(b.is_primary) - Number(a.is_primary))
      .map(toMetric);
    const { run_id } = summary;
    const names = metrics.slice(0, 4).map(({ name }) => name);
    return {
      body: only(summary, RunFields),
      list: toWhole({ name: 'metrics', tool: 'get_run_summary', args }, metrics),
      next_actions: [
        toAction('diagnose_run', { run_id }, 'what stands out in this run'),
        ...(names.length > 0 ? [toAction('query_metrics', { run_id, names }, 'how these metrics went')] : []),
        toAction('list_checkpoints', { run_id }, 'the checkpoints of the run'),
      ],
    };
  },
);

const POINTS = 40;
/** In one answer, over all of its series. */
const MOST_POINTS = 120;
const FEWEST_POINTS = 8;
/** Read to find the extremes: the server thins to so many and keeps them. */
const READ_POINTS = 1000;

export const queryMetrics = defineTool(
  {
    name: 'query_metrics',
    title: 'Query metrics',
    description:
      'Series of one run by step, thinned: total, first, last, min, max, best and trend of each, and up to `limit` points (40 when left out, 120 at most over all series) that keep spikes and NaN. Narrow the range with step_from and step_to to see more of it.',
    group: 'observe',
    output: {
      run_id: Type.String(),
      missing: Type.Optional(
        Type.Array(Type.String(), { description: 'Names of the call that have no point in this range.' }),
      ),
    },
    list: ['series', ThinSeries],
  },
  async (call, args) => {
    const { client, signal } = call;
    const { run_id, names, step_from, step_to, limit = POINTS, offset = 0 } = args;
    const [found, summary] = await Promise.all([
      readSeries(call, run_id, { names, step_from, step_to, limit: READ_POINTS }),
      client.call(routes.getRunSummary, { params: { run_id }, signal }),
    ]);
    const all = Object.entries(found);
    const missing = names?.filter((name) => !found[name]?.total) ?? [];
    const share = Math.floor(MOST_POINTS / Math.max(1, all.length - offset));
    const points = Math.min(limit, Math.max(FEWEST_POINTS, share));
    const series = all.map(([name, each]) => thin(name, each, points, knownDirection(summary.metrics[name])));
    return {
      body: { run_id: summary.run_id, ...(missing.length > 0 && { missing }) },
      // Rather fewer series than parts of them.
      list: { ...toWhole({ name: 'series', tool: 'query_metrics', args }, series), enough: 1 },
      next_actions: [
        ...(missing.length > 0
          ? [toAction('get_run_summary', { run_id: summary.run_id }, 'the metrics that it has')]
          : []),
        toAction('diagnose_run', { run_id: summary.run_id }, 'what stands out in this run'),
      ],
    };
  },
);

interface Range {
  readonly names: readonly string[] | undefined;
  readonly step_from: number | undefined;
  readonly step_to: number | undefined;
  readonly limit: number;
}

/** Names are one parameter with commas, unless a name has a comma itself. */
async function readSeries(
  { client, signal }: Call,
  run_id: string,
  { names, ...range }: Range,
): Promise<SeriesByName> {
  if (!names?.some((name) => name.includes(','))) {
    const query = { names: names?.join(','), ...range };
    return (await client.call(routes.readSeries, { params: { run_id }, query, signal })).series;
  }
  const { step_from, step_to, limit } = range;
  const steps = { ...(step_from !== undefined && { step_from }), ...(step_to !== undefined && { step_to }) };
  const body = { run_ids: [run_id], names: [...names], limit, ...steps };
  const { series } = await client.call(routes.queryMetrics, { body, signal });
  return Object.values(series)[0] ?? {};
}

function knownDirection(metric: Summary | undefined): Summary['direction'] | null {
  if (!metric || (metric.guessed && metric.guessed_from === null)) return null;
  return metric.direction;
}

const Definition = strict(
  pick(MetricDefinition, 'name', 'direction', 'guessed', 'is_primary', 'level', 'unit', 'description'),
);

export const listMetricDefinitions = defineTool(
  {
    name: 'list_metric_definitions',
    title: 'List metric definitions',
    description:
      'What metrics mean: which direction is better, whether that is guessed, and which metric is primary; for a project or an experiment as it applies there.',
    group: 'observe',
    output: {},
    list: ['definitions', Definition],
  },
  async ({ client, signal }, args) => {
    const { project_id, experiment_id } = args;
    const query = { project_id, experiment_id, limit: 1000 };
    const { items } = await client.call(routes.listMetricDefinitions, { query, signal });
    const page = { name: 'definitions', tool: 'list_metric_definitions', args } as const;
    const best = experiment_id && items.some(({ is_primary }) => is_primary);
    return {
      body: {},
      list: toWhole(
        page,
        items.map((definition) => only(definition, Definition.properties)),
      ),
      next_actions: best
        ? [toAction('get_best_checkpoint', { experiment_id }, 'the best checkpoint by the primary metric')]
        : [],
    };
  },
);
