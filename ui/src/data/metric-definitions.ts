import type { Direction, MetricDefinition, routes } from '@svc/contract';
import { endpoint, withoutEmpty, type Api } from './api.js';

export type { Direction, MetricDefinition };

const PUT = endpoint<typeof routes.putMetricDefinition>('PUT', '/metric-definitions/{name:path}');

const LIST = endpoint<typeof routes.listMetricDefinitions>('GET', '/metric-definitions');
const PRIMARY = endpoint<typeof routes.setPrimaryMetric>('PUT', '/primary-metric');

/** What applies in the project or experiment, or everywhere; the primary metric first. */
export async function listMetricDefinitions(
  api: Api,
  level: { project_id?: string | null; experiment_id?: string | null; run_id?: string | null },
  signal?: AbortSignal,
): Promise<MetricDefinition[]> {
  return (await api.call(LIST, { query: { ...withoutEmpty(level), limit: 1000 }, signal })).items;
}

/** The primary metric of a run; null: none is set. */
export async function findPrimaryMetric(
  api: Api,
  level: { run_id: string },
  signal?: AbortSignal,
): Promise<string | null> {
  const [first] = (await api.call(LIST, { query: { ...level, limit: 1 }, signal })).items;
  return first?.is_primary ? first.name : null;
}

/** The units of the metrics of a run that have one. */
export async function readUnits(
  api: Api,
  runId: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const definitions = await listMetricDefinitions(api, { run_id: runId }, signal);
  return new Map(definitions.flatMap(({ name, unit }) => (unit ? [[name, unit]] : [])));
}

/** In that project, or everywhere. */
export function setDirection(
  api: Api,
  name: string,
  direction: Direction,
  projectId: string | null,
): Promise<MetricDefinition> {
  return api.call(PUT, { params: { name }, body: { direction, project_id: projectId } });
}

/** Where a definition counts; both null: everywhere. */
export interface MetricLevelIds {
  readonly project_id: string | null;
  readonly experiment_id: string | null;
}

/** What is left out stays as it applies there. */
export function defineMetric(
  api: Api,
  name: string,
  meaning: { direction?: Direction; unit?: string | null; description?: string },
  level: MetricLevelIds,
): Promise<MetricDefinition> {
  return api.call(PUT, { params: { name }, body: { ...meaning, ...level } });
}

/** The one before it at that level is no longer primary. */
export function setPrimaryMetric(api: Api, name: string, level: MetricLevelIds): Promise<MetricDefinition> {
  return api.call(PRIMARY, { body: { name, ...level } });
}
