import type { Job, JobStatus } from '@svc/contract';
import type { JobPage } from './jobs.js';

/** Jobs newest first, as far as they were loaded; `nextBefore` is where the next page begins, null at the end. */
export interface JobList {
  items: readonly Job[];
  nextBefore: number | null;
}

export const EMPTY_LIST: JobList = { items: [], nextBefore: null };

/** The first page anew: it replaces what it covers, older jobs that were loaded stay below. */
export function withFirstPage(held: JobList, page: JobPage): JobList {
  const oldest = page.items.at(-1);
  if (page.next_before === null || !oldest) return { items: page.items, nextBefore: page.next_before };
  const older = held.items.filter((job) => job.created_at < oldest.created_at);
  const nextBefore = older.length > 0 ? held.nextBefore : page.next_before;
  return { items: [...page.items, ...older], nextBefore };
}

/** The page after what is held. */
export function withNextPage(held: JobList, page: JobPage): JobList {
  const known = new Set(held.items.map((job) => job.id));
  const fresh = page.items.filter((job) => !known.has(job.id));
  return { items: [...held.items, ...fresh], nextBefore: page.next_before };
}

/** One job as it is now; it leaves a list of another status. */
export function withJob(held: JobList, job: Job, status: JobStatus | null): JobList {
  const items = held.items.map((one) => (one.id === job.id ? job : one));
  return { ...held, items: status === null ? items : items.filter((one) => one.status === status) };
}
