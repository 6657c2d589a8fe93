import type { EventRecord, Severity } from '@svc/contract';
import { requireId } from '@svc/kernel';

/** What of the events is wanted; null takes all. Ids are canonical. */
export interface EventFilter {
  readonly run_id: string | null;
  readonly job_id: string | null;
  readonly node_id: string | null;
  readonly type: string | null;
  readonly severity: Severity | null;
}

export type EventFilterQuery = { readonly [K in keyof EventFilter]?: NonNullable<EventFilter[K]> };

/** Any form of id; throws not_found for a malformed one. */
export function parseFilter(query: EventFilterQuery): EventFilter {
  return {
    run_id: query.run_id === undefined ? null : requireId('run', query.run_id),
    job_id: query.job_id === undefined ? null : requireId('job', query.job_id),
    node_id: query.node_id === undefined ? null : requireId('node', query.node_id),
    type: query.type ?? null,
    severity: query.severity ?? null,
  };
}

/** The columns to select by. */
export function toColumns(filter: Partial<EventFilter>): Partial<EventFilter> {
  return Object.fromEntries(Object.entries(filter).filter(([, wanted]) => wanted !== null));
}

export function matches(event: EventRecord, filter: EventFilter): boolean {
  return Object.entries(toColumns(filter)).every(
    ([column, wanted]) => event[column as keyof EventFilter] === wanted,
  );
}
