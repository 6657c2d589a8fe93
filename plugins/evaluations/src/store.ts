import type { Evaluation, EvaluationResult, Protocol } from '@svc/contract';
import {
  dialectOf,
  fail,
  newestRows,
  orWhereHolds,
  requireId,
  rowsOfOwners,
  toJson,
  toSearchWords,
  yieldIfSliceOver,
  type Db,
  type Listed,
  type Page,
} from '@svc/kernel';
import { toEvaluation, type EvaluationRow } from './evaluation-row.js';
import type { EvaluatedValue, ProtocolFilter } from './service.js';

/** Shown with a checkpoint. */
const RESULTS_PER_CHECKPOINT = 100;

export interface EvaluationFilter {
  readonly run_id?: string | undefined;
  readonly checkpoint_id?: string | undefined;
  readonly status?: Evaluation['status'] | undefined;
  readonly suite?: string | undefined;
  /** Words of the labels. */
  readonly q?: string | undefined;
}

const LABELS = ['suite', 'dataset', 'dataset_version'] as const;

export type NewEvaluation = Protocol &
  Pick<Evaluation, 'id' | 'checkpoint_id' | 'run_id' | 'job_id' | 'created_at'>;

export async function insertEvaluation(db: Db, evaluation: NewEvaluation): Promise<void> {
  await evaluations(db).insert({ ...evaluation, ...AWAITING, attempt: 1 });
}

/** What an evaluation is before its job has ended. */
const AWAITING = {
  status: 'QUEUED',
  metrics: '{}',
  runtime_s: null,
  result_attempt: null,
  error: null,
  awaited_since: null,
  finished_at: null,
} as const;

/** Any form of id; throws not_found. */
export async function requireEvaluation(db: Db, id: string): Promise<Evaluation> {
  const row = await evaluations(db)
    .where({ id: requireId('evaluation', id) })
    .first();
  return row ? toEvaluation(row) : fail('not_found', `no evaluation "${id}"`);
}

/** Newest first; every filter given is applied. */
export async function listEvaluations(
  db: Db,
  { q = '', ...filter }: EvaluationFilter,
  page: Page,
): Promise<Listed<Evaluation>> {
  const equal = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const words = toSearchWords(q);
  const { items, ...rest } = await newestRows<EvaluationRow>(db, {
    from: 'evaluations',
    where(query) {
      query.where(equal);
      for (const word of words)
        query.where((either) => {
          for (const label of LABELS) orWhereHolds(either, label, word);
        });
    },
    // Those of a run or checkpoint are found by an index.
    isSearch: !filter.run_id && !filter.checkpoint_id,
    ...page,
  });
  return { items: items.map(toEvaluation), ...rest };
}

/** Locks the row until the transaction ends. */
export async function lockEvaluation(db: Db, id: string): Promise<EvaluationRow | null> {
  return (await evaluations(db).where({ id }).forUpdate().first()) ?? null;
}

/** Its job was queued again: nothing of the attempt before counts. */
export async function awaitAttempt(db: Db, id: string, attempt: number): Promise<void> {
  await evaluations(db)
    .where({ id })
    .update({ ...AWAITING, attempt });
}

export async function awaitResult(db: Db, id: string, since: number): Promise<void> {
  await evaluations(db).where({ id }).update({ awaited_since: since });
}

export async function storeResult(
  db: Db,
  id: string,
  attempt: number,
  { metrics, runtime_s }: EvaluationResult,
): Promise<EvaluationRow> {
  const [row] = await evaluations(db)
    .where({ id })
    .update({ metrics: toJson(metrics), runtime_s, result_attempt: attempt })
    .returning<EvaluationRow[]>('*');
  return row as EvaluationRow;
}

export type EvaluationEnd = Pick<Evaluation, 'status' | 'error' | 'finished_at'>;

/** The evaluation as it has ended; null when it had ended before. */
export async function endEvaluation(db: Db, id: string, end: EvaluationEnd): Promise<Evaluation | null> {
  const [row] = await evaluations(db)
    .where({ id, status: 'QUEUED' })
    .update({ ...end, awaited_since: null })
    .returning<EvaluationRow[]>('*');
  return row ? toEvaluation(row) : null;
}

/** The ids of those whose job has succeeded by then, and whose result has not come. */
export function listOverdue(db: Db, awaitedBefore: number): Promise<string[]> {
  return evaluations(db)
    .where({ status: 'QUEUED' })
    .where('awaited_since', '<=', awaitedBefore)
    .pluck('id') as Promise<string[]>;
}

/** Those that have SUCCEEDED, newest first, by the id of their checkpoint; of each as many as fit in an answer. */
export async function resultsOf(
  db: Db,
  checkpointIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Evaluation[]>> {
  const evaluated: string[] = await evaluations(db)
    .whereIn('checkpoint_id', [...checkpointIds])
    .where({ status: 'SUCCEEDED' })
    .distinct()
    .pluck('checkpoint_id');
  const results = new Map<string, readonly Evaluation[]>();
  for (const checkpoint_id of evaluated) {
    const filter = { checkpoint_id, status: 'SUCCEEDED' } as const;
    const { items } = await listEvaluations(db, filter, { limit: RESULTS_PER_CHECKPOINT });
    results.set(checkpoint_id, items);
    await yieldIfSliceOver();
  }
  return results;
}

/** Where the JSON of `metrics` has a name: `?`. The JSON is read by the database, as it may be long. */
const VALUE = {
  sqlite: '(select value from json_each(metrics) where key = ?)',
  postgres: '(metrics::json ->> ?)',
} as const;

/** One value for each evaluation of these checkpoints that has SUCCEEDED, has the metric and matches the filter. Ids in canonical form. */
export async function valuesOf(
  db: Db,
  column: 'run_id' | 'checkpoint_id',
  ids: readonly string[],
  metric: string,
  filter: ProtocolFilter,
): Promise<EvaluatedValue[]> {
  const value = db.raw(VALUE[dialectOf(db)], [metric]);
  const pages = rowsOfOwners<ValueRow>(db, {
    owner: column,
    ids,
    query: () =>
      evaluations(db)
        .where({ status: 'SUCCEEDED', ...toCondition(filter) })
        .select('id', 'checkpoint_id', 'run_id', 'job_id', 'suite', 'dataset', 'dataset_version')
        .select('created_at', { value }),
  });
  const found: EvaluatedValue[] = [];
  for await (const page of pages)
    for (const row of page) if (row.value !== null) found.push({ ...row, value: Number(row.value) });
  return found;
}

type ValueRow = Omit<EvaluatedValue, 'value'> &
  Pick<Evaluation, 'created_at'> & { readonly value: number | string | null };

/** An empty label is asked for as null. */
function toCondition(filter: ProtocolFilter): Record<string, string | null> {
  const asked = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(asked.map(([label, wanted]) => [label, wanted || null]));
}

function evaluations(db: Db) {
  return db<EvaluationRow>('evaluations');
}
