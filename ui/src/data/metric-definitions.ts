import type { Direction, MetricDefinition, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Direction };

const PUT = endpoint<typeof routes.putMetricDefinition>('PUT', '/metric-definitions/{name:path}');

/** In that project, or everywhere. */
export function setDirection(
  api: Api,
  name: string,
  direction: Direction,
  projectId: string | null,
): Promise<MetricDefinition> {
  return api.call(PUT, { params: { name }, body: { direction, project_id: projectId } });
}
