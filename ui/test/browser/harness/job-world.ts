import type { Job, JobAttempt, Run } from '@svc/contract';
import type { Locator } from 'playwright-core';
import type { ApiTable } from './fake-api.js';
import { attempt, failure, idOf, job, line, node } from './records.js';
import type { DESK, Stage } from './stage.js';

export const ID = idOf('job', 1);

export const tail = (texts: readonly string[], dropped = 0) => ({
  job_id: ID,
  attempt: 1,
  lines: texts.map((text, seq) => line(seq, text)),
  dropped,
});

/** What the server says of the job whose page is shown. */
export interface JobWorld {
  readonly job?: Partial<Job>;
  readonly runs?: readonly Run[];
  readonly attempts?: readonly JobAttempt[];
  readonly api?: ApiTable;
  readonly canWrite?: boolean;
  readonly viewport?: typeof DESK;
  readonly theme?: 'light' | 'dark';
  /** What the address says behind the path. */
  readonly query?: string;
}

export function mountJobPage(
  stage: Stage,
  { job: changes = {}, runs = [], attempts = [attempt(1)], api = {}, query = '', ...more }: JobWorld = {},
): Promise<Locator> {
  return stage.mount('svc-job-page', {
    properties: { jobId: ID, query },
    address: `/jobs/${ID}?${query}`,
    api: {
      'GET /jobs/{job_id}': job(1, changes),
      'GET /jobs/{job_id}/runs': { items: runs },
      'GET /jobs/{job_id}/attempts': { items: attempts },
      'GET /jobs/{job_id}/logs': tail(['first line', 'second line']),
      'GET /jobs/{job_id}/failure': failure(),
      'GET /nodes': { items: [node(1)] },
      ...api,
    },
    ...more,
  });
}
