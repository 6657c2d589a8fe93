import type { EventRecord, Job, routes, Run } from '@svc/contract';
import { endpoint, withoutEmpty, type Api } from './api.js';
import type { EventFilter } from './event-list.js';
import type { JobFilter } from './jobs.js';
import type { RunFilter } from './runs.js';

/** One answer of the server: items newest first. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** There are older ones. */
  readonly hasMore: boolean;
  /** The answer would have been too large: the server has cut it, and older items follow. */
  readonly isCut: boolean;
}

const JOBS = endpoint<typeof routes.listJobs>('GET', '/jobs');
const RUNS = endpoint<typeof routes.listRuns>('GET', '/runs');
const EVENTS = endpoint<typeof routes.listEvents>('GET', '/events');
const PAGE_SIZE = 200;

/** The jobs behind the last one, newest first; null: the newest. */
export async function readJobs(
  api: Api,
  filter: JobFilter,
  last: Job | null,
  signal: AbortSignal,
): Promise<ListPage<Job>> {
  const query = { ...withoutEmpty(filter), before: last?.created_at, limit: PAGE_SIZE };
  const { next_before, ...answer } = await api.call(JOBS, { query, signal });
  return { ...toPage(answer), hasMore: next_before !== null };
}

export async function readRuns(
  api: Api,
  filter: RunFilter,
  last: Run | null,
  signal: AbortSignal,
): Promise<ListPage<Run>> {
  const query = { ...withoutEmpty(filter), before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.call(RUNS, { query, signal }));
}

export async function readEvents(
  api: Api,
  filter: EventFilter,
  last: EventRecord | null,
  signal: AbortSignal,
): Promise<ListPage<EventRecord>> {
  const query = { ...withoutEmpty(filter), before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.call(EVENTS, { query, signal }));
}

/** A full page may be the last one: then the next one is empty. */
function toPage<T>({ items, truncated = false }: { items: T[]; truncated?: boolean }): ListPage<T> {
  return { items, hasMore: truncated || items.length === PAGE_SIZE, isCut: truncated };
}
