import type { EventRecord, Severity } from '@svc/contract';
import { requireId, type PluginContext } from '@svc/kernel';
import { findSubject, type SubjectKind } from './hooks.js';

/** Which events are wanted; null matches all. Ids are canonical. */
export interface EventFilter {
  readonly run_id: string | null;
  readonly job_id: string | null;
  readonly node_id: string | null;
  readonly type: string | null;
  readonly severity: Severity | null;
}

export type EventFilterQuery = { readonly [K in keyof EventFilter]?: NonNullable<EventFilter[K]> };

type FilterContext = Pick<PluginContext, 'db' | 'fire'>;

/** Any form of id; throws not_found for a malformed and for an unknown one. */
export async function parseFilter(ctx: FilterContext, query: EventFilterQuery): Promise<EventFilter> {
  const find = async (kind: SubjectKind, given: string | undefined) =>
    given === undefined ? null : requireSubject(ctx, kind, given);
  return {
    run_id: await find('run', query.run_id),
    job_id: await find('job', query.job_id),
    node_id: await find('node', query.node_id),
    type: query.type ?? null,
    severity: query.severity ?? null,
  };
}

async function requireSubject(
  { db, fire }: FilterContext,
  kind: SubjectKind,
  given: string,
): Promise<string> {
  return (await fire(findSubject, db, kind, given)) ?? requireId(kind, given);
}

/** The columns to select by. */
export function toColumns(filter: Partial<EventFilter>): Partial<EventFilter> {
  return Object.fromEntries(Object.entries(filter).filter(([, wanted]) => wanted !== null));
}

export function createMatcher(filter: EventFilter): (event: EventRecord) => boolean {
  const wanted = Object.entries(toColumns(filter)) as [keyof EventFilter, string][];
  return (event) => wanted.every(([column, value]) => event[column] === value);
}
