import type { Run } from '@svc/contract';
import { fromJson, toJson } from '@svc/kernel';

type JsonColumn = 'config' | 'environment' | 'tags';

/** A run as the table holds it. */
export type RunRow = Omit<Run, JsonColumn> & Record<JsonColumn, string>;

export function toRow(run: Run): RunRow {
  return { ...run, config: toJson(run.config), environment: toJson(run.environment), tags: toJson(run.tags) };
}

export function fromRow(row: RunRow): Run {
  return {
    ...row,
    config: fromJson(row.config),
    environment: fromJson(row.environment),
    tags: fromJson(row.tags),
  };
}
