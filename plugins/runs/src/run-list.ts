import type { Run, RunStatus } from '@svc/contract';
import {
  countRows,
  fail,
  newestRows,
  nextTurn,
  pagesOfRows,
  selectRows,
  toSearchWords,
  whereNameOrId,
  yieldIfSliceOver,
  type Db,
  type Listed,
  type Page,
  type RowsQuery,
} from '@svc/kernel';
import { compareKeys, type RunKey, type RunKeys } from './run-keys.js';
import { fromRow, type RunRow } from './run-row.js';
import { toTagList } from './run-search.js';
import type { RunPlaceFilter } from './service.js';

export interface RunFilter {
  readonly experiment_id?: string | undefined;
  readonly project_id?: string | undefined;
  readonly job_id?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly name?: string | undefined;
  /** Words of the name, or parts of the id. */
  readonly q?: string | undefined;
  /** Separated by commas. */
  readonly tags?: string | undefined;
  readonly import_key?: string | undefined;
}

/** Newest first; every filter given is applied. */
export async function listRuns(db: Db, filter: RunFilter, page: Page): Promise<Listed<Run>> {
  const { items, ...rest } = await newestRows<RunRow>(db, { ...toQuery(db, filter), ...page });
  return { items: items.map(fromRow), ...rest };
}

export function countMatching(db: Db, filter: RunFilter): Promise<number> {
  return countRows(db, toQuery(db, filter));
}

export interface Order {
  readonly keys: RunKeys;
  readonly isDescending: boolean;
}

/** A run with what decides its place in the list. */
interface Placed {
  readonly id: string;
  readonly created_at: number;
  readonly key: RunKey;
}

const ROWS_AT_ONCE = 100;

/**
 * All that match are read, but of each only what decides its place, and only as many are held as are asked for. Throws not_found when
 * `before` is unknown.
 */
export async function listSorted(
  db: Db,
  filter: RunFilter,
  { keys, isDescending }: Order,
  { limit, before }: Page,
): Promise<Listed<Run> & { readonly total: number }> {
  const columns = [...new Set(['id', 'created_at', ...keys.columns])];
  const compare = (a: Placed, b: Placed): number =>
    compareKeys(a.key, b.key, isDescending) || b.created_at - a.created_at || (a.id < b.id ? 1 : -1);
  const place = async (rows: readonly RunRow[]): Promise<Placed[]> => {
    const read = await keys.read(rows);
    return rows.map(({ id, created_at }, at) => ({ id, created_at, key: read[at] as RunKey }));
  };
  const [last] = before === undefined ? [] : await place([await requireRow(db, before, columns)]);
  let first: Placed[] = [];
  let total = 0;
  for await (const rows of pagesOfRows<RunRow>(db, { ...toQuery(db, filter), columns })) {
    total += rows.length;
    const worst = first.length < limit ? undefined : first.at(-1);
    const fitting = (await place(rows)).filter(
      (one) =>
        !(last && (one.id === last.id || compare(one, last) < 0)) && !(worst && compare(one, worst) > 0),
    );
    first = [...first, ...fitting].sort(compare).slice(0, limit);
    await yieldIfSliceOver();
  }
  return {
    items: await readInOrder(
      db,
      first.map(({ id }) => id),
    ),
    total,
  };
}

/** One that is being deleted is a place in the list as well. */
async function requireRow(db: Db, id: string, columns: readonly string[]): Promise<RunRow> {
  const row = (await db<RunRow>('runs')
    .where({ id })
    .first([...columns] as (keyof RunRow)[])) as RunRow | undefined;
  return row ?? fail('not_found', `before: there is no "${id}"`);
}

/** Those that still exist. */
async function readInOrder(db: Db, ids: readonly string[]): Promise<Run[]> {
  const found = new Map<string, Run>();
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const some = ids.slice(at, at + ROWS_AT_ONCE);
    const rows = await selectRows<RunRow>(db, db('runs').whereNull('deleted_at').whereIn('id', some));
    for (const row of rows) found.set(row.id, fromRow(row));
    await nextTurn();
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** As a condition on the rows of another table, whose column has the id of a run. */
export function matchingRuns(
  db: Db,
  { word, ...placement }: RunPlaceFilter,
  idColumn: string,
): ReturnType<Db> {
  const wanted = Object.entries(placement).filter(([, value]) => value !== undefined);
  const query = db('runs').whereNull('deleted_at').where(Object.fromEntries(wanted));
  if (word !== undefined) whereNameOrId(query, word, 'run');
  return query.whereRaw('runs.id = ??', [idColumn]);
}

function toQuery(db: Db, { q = '', tags = '', ...equal }: RunFilter): RowsQuery {
  const words = toSearchWords(q);
  const tagList = toTagList(tags);
  const wanted = Object.entries(equal).filter(([, value]) => value !== undefined);
  return {
    from: 'runs',
    where(query) {
      query.where(Object.fromEntries(wanted)).whereNull('deleted_at');
      for (const word of words) whereNameOrId(query, word, 'run');
      // `exists` lets the database walk the runs in their order and stop at the limit; `in` would first gather all that have the tag.
      for (const tag of tagList)
        query.whereExists(db('run_tags').where({ tag }).whereRaw('run_tags.run_id = runs.id'));
    },
    isSearch: words.length > 0 || tagList.length > 0,
  };
}
