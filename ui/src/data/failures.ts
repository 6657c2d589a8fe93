import type { CitationRecord, FailureExplanation, NextActionRecord, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { CitationRecord, FailureExplanation, NextActionRecord };

const OF_JOB = endpoint<typeof routes.explainJobFailure>('GET', '/jobs/{job_id}/failure');

export function explainJobFailure(
  api: Api,
  jobId: string,
  attempt: number,
  signal?: AbortSignal,
): Promise<FailureExplanation> {
  return api.call(OF_JOB, { params: { job_id: jobId }, query: { attempt }, signal });
}
