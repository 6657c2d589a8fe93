import { HIDDEN, type Job } from '@svc/contract';
import type { Caller } from '@svc/kernel';

/** The job as this caller may see it: without write scope every env value is hidden. */
export function hideEnv(job: Job, caller: Caller): Job {
  if (caller.scope === 'write') return job;
  return { ...job, env: Object.fromEntries(Object.keys(job.env).map((name) => [name, HIDDEN])) };
}
