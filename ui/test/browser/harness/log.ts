import type { ApiTable } from './fake-api.js';
import { idOf } from './records.js';
import type { DESK, Stage } from './stage.js';

export const ID = idOf('job', 1);

export interface LogOptions {
  readonly dropped?: number;
  readonly properties?: object;
  readonly api?: ApiTable;
  readonly address?: string;
  readonly viewport?: typeof DESK;
}

/** The log of a job that runs, which has these lines. */
export function mountLog(
  stage: Stage,
  lines: readonly object[],
  { dropped = 0, properties, api, ...more }: LogOptions = {},
) {
  return stage.mount('svc-log-view', {
    properties: { jobId: ID, attempt: 1, attempts: 1, live: true, style: 'height: 400px', ...properties },
    api: { 'GET /jobs/{job_id}/logs': { job_id: ID, attempt: 1, lines, dropped }, ...api },
    events: ['svc-attempt'],
    ...more,
  });
}
