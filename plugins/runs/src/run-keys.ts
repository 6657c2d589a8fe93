import { partDone, type RunColumn, type RunField } from '@svc/contract';
import { failValidation, fromJson, type Db } from '@svc/kernel';
import type { PlacementLevel } from '@svc/plugin-projects';
import type { MetricValuesQuery } from './hooks.js';
import type { RunRow } from './run-row.js';

/** What a run is sorted by; null: it has no such value. */
export type RunKey = number | string | null;

/** Reads the keys of runs, whose rows have `id` and these columns. */
export interface RunKeys {
  readonly columns: readonly string[];
  read(rows: readonly RunRow[]): Promise<readonly RunKey[]>;
}

/** Where the keys are that are not in the row of a run. */
export interface KeySource {
  readonly db: Db;
  readonly now: number;
  /** Where the runs are looked for: it decides which values of a metric are good. */
  readonly placement: Pick<MetricValuesQuery, 'project_id' | 'experiment_id'>;
  names(level: PlacementLevel, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  metricValues(query: MetricValuesQuery): Promise<ReadonlyMap<string, number> | undefined>;
}

export function keysOf(column: RunColumn, source: KeySource): RunKeys {
  const { kind, name } = column;
  if (kind === 'field') return fieldKeys(name, source);
  if (kind === 'config') return ofRow(['config'], ({ config }) => toKey(entryAt(fromJson(config), name)));
  return {
    columns: [],
    async read(rows) {
      const query = { run_ids: rows.map(({ id }) => id), name, which: kind, ...source.placement };
      const values = await source.metricValues(query);
      if (values === undefined)
        return failValidation({ path: 'sort', message: 'no plugin of this server has metrics' });
      return rows.map(({ id }) => values.get(id) ?? null);
    },
  };
}

type RowField = Exclude<RunField, 'project' | 'experiment'>;
type KeyOf = (row: RunRow, now: number) => RunKey;

const OF_ROW: Readonly<Record<RowField, readonly [columns: readonly (keyof RunRow)[], keyOf: KeyOf]>> = {
  name: [['name'], ({ name }) => name],
  status: [['status'], ({ status }) => status],
  progress: [['step', 'max_steps', 'status'], partDone],
  tags: [['tags'], ({ tags }) => fromJson<string[]>(tags)[0] ?? null],
  created: [['created_at'], ({ created_at }) => created_at],
  duration: [
    ['started_at', 'finished_at'],
    ({ started_at, finished_at }, now) => (finished_at ?? now) - started_at,
  ],
  step: [['step'], ({ step }) => step],
  epoch: [['epoch'], ({ epoch }) => epoch],
  source: [['source'], ({ source }) => source],
  job: [['job_id'], ({ job_id }) => job_id],
  notes: [['notes'], ({ notes }) => notes || null],
  id: [['id'], ({ id }) => id],
};

function fieldKeys(name: RunField, { now, names }: KeySource): RunKeys {
  if (name !== 'project' && name !== 'experiment') {
    const [columns, keyOf] = OF_ROW[name];
    return ofRow(columns, (row) => keyOf(row, now));
  }
  const idOf = (row: RunRow): string | null => row[`${name}_id`];
  return {
    columns: [`${name}_id`],
    async read(rows) {
      const known = await names(name, [...new Set(rows.flatMap((row) => idOf(row) ?? []))]);
      return rows.map((row) => known.get(idOf(row) ?? '') ?? null);
    },
  };
}

function ofRow(columns: readonly string[], keyOf: (row: RunRow) => RunKey): RunKeys {
  return { columns, read: async (rows) => rows.map(keyOf) };
}

/** The value of a dotted name in an object of objects, the parts of which may have dots themselves. */
function entryAt(record: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(record, name)) return record[name];
  for (const [key, inner] of Object.entries(record)) {
    if (!name.startsWith(`${key}.`) || !isObject(inner)) continue;
    const found = entryAt(inner, name.slice(key.length + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toKey(value: unknown): RunKey {
  if (value === undefined || value === null) return null;
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
}

/** `batch 2` before `batch 10`, whatever the letter case. */
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Numbers before texts, NaN behind both, nothing at the very end. */
export function compareKeys(a: RunKey, b: RunKey, isDescending: boolean): number {
  const byKind = rankOf(a) - rankOf(b);
  if (byKind !== 0) return byKind;
  const sign = isDescending ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 0 : a < b ? -sign : sign;
  return typeof a === 'string' && typeof b === 'string' ? sign * collator.compare(a, b) : 0;
}

function rankOf(key: RunKey): number {
  if (key === null) return 3;
  if (typeof key === 'string') return 1;
  return Number.isNaN(key) ? 2 : 0;
}
