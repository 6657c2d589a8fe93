import type { CitationRecord, Diagnosis, NextActionRecord, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { CitationRecord, Diagnosis, NextActionRecord };

const GET = endpoint<typeof routes.diagnoseRun>('GET', '/runs/{run_id}/diagnosis');

export function getDiagnosis(api: Api, runId: string, signal?: AbortSignal): Promise<Diagnosis> {
  return api.call(GET, { params: { run_id: runId }, signal });
}
