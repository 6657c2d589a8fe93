import type { BodyOf, ExportFormat, routes, Run } from '@svc/contract';
import { endpoint, type Api } from './api.js';

const UPDATE = endpoint<typeof routes.updateRun>('PATCH', '/runs/{run_id}');
const FINISH = endpoint<typeof routes.finishRun>('POST', '/runs/{run_id}/finish');
const DELETE = endpoint<typeof routes.deleteRun>('DELETE', '/runs/{run_id}');
const EXPORT = endpoint<typeof routes.exportMetrics>('GET', '/runs/{run_id}/metrics/export');

export type RunChange = Pick<BodyOf<typeof routes.updateRun>, 'name' | 'tags' | 'notes'>;
export type RunEnd = BodyOf<typeof routes.finishRun>['status'];

export async function updateRun(api: Api, runId: string, body: RunChange): Promise<void> {
  await api.call(UPDATE, { params: { run_id: runId }, body });
}

export function finishRun(api: Api, runId: string, status: RunEnd): Promise<Run> {
  return api.call(FINISH, { params: { run_id: runId }, body: { status } });
}

export function deleteRun(api: Api, runId: string): Promise<Run> {
  return api.call(DELETE, { params: { run_id: runId } });
}

/** Every point of the run as a file. */
export function exportPoints(api: Api, runId: string, format: ExportFormat): Promise<Blob> {
  return api.download(EXPORT, { params: { run_id: runId }, query: { format } });
}
