import type { EventRecord, Severity } from '@svc/contract';
import { idOf, requireId, serviceRef, type Db, type PluginContext } from '@svc/kernel';

/** What of the events is wanted; null takes all. Ids are canonical. */
export interface EventFilter {
  readonly run_id: string | null;
  readonly job_id: string | null;
  readonly node_id: string | null;
  readonly type: string | null;
  readonly severity: Severity | null;
}

export type EventFilterQuery = { readonly [K in keyof EventFilter]?: NonNullable<EventFilter[K]> };

interface Owner {
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<{ readonly id: string }>;
}

/** By name: these plugins require this one, so they are there only when requests come, if they are there at all. */
const OWNERS = {
  run: serviceRef<Owner>('runs'),
  job: serviceRef<Owner>('jobs'),
  node: serviceRef<Owner>('nodes'),
};

type Surroundings = Pick<PluginContext, 'db' | 'has' | 'use'>;

/** Any form of id; throws not_found for a malformed and for an unknown one. */
export async function parseFilter(around: Surroundings, query: EventFilterQuery): Promise<EventFilter> {
  const find = async (kind: keyof typeof OWNERS, given: string | undefined) =>
    (await idOf(given, (id) => requireOwner(around, kind, id))) ?? null;
  return {
    run_id: await find('run', query.run_id),
    job_id: await find('job', query.job_id),
    node_id: await find('node', query.node_id),
    type: query.type ?? null,
    severity: query.severity ?? null,
  };
}

async function requireOwner(
  { db, has, use }: Surroundings,
  kind: keyof typeof OWNERS,
  id: string,
): Promise<{ id: string }> {
  const owner = OWNERS[kind];
  return has(owner) ? use(owner).require(db, id) : { id: requireId(kind, id) };
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
