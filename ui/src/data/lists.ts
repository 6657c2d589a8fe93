import type { EventRecord, Job, Run } from '@svc/contract';
import type { Api } from './api.js';
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

const PAGE_SIZE = 200;

interface Answer<T> {
  readonly items: T[];
  readonly truncated?: true;
}

/** The jobs behind the last one, newest first; null: the newest. */
export async function readJobs(
  api: Api,
  filter: JobFilter,
  last: Job | null,
  signal: AbortSignal,
): Promise<ListPage<Job>> {
  const query = { ...filter, before: last?.created_at, limit: PAGE_SIZE };
  const { next_before, ...answer } = await api.get<Answer<Job> & { next_before: number | null }>(
    '/jobs',
    query,
    signal,
  );
  return { ...toPage(answer), hasMore: next_before !== null };
}

export async function readRuns(
  api: Api,
  filter: RunFilter,
  last: Run | null,
  signal: AbortSignal,
): Promise<ListPage<Run>> {
  const query = { ...filter, before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.get<Answer<Run>>('/runs', query, signal));
}

export async function readEvents(
  api: Api,
  filter: EventFilter,
  last: EventRecord | null,
  signal: AbortSignal,
): Promise<ListPage<EventRecord>> {
  const query = { ...filter, before: last?.id, limit: PAGE_SIZE };
  return toPage(await api.get<Answer<EventRecord>>('/events', query, signal));
}

/** A full page may be the last one: then the next one is empty. */
function toPage<T>({ items, truncated = false }: { items: T[]; truncated?: boolean }): ListPage<T> {
  return { items, hasMore: truncated || items.length === PAGE_SIZE, isCut: truncated };
}
