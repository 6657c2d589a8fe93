import type { Run } from '@svc/contract';
import { fromJson, toJson, toSearchName } from '@svc/kernel';
import type { Life } from './life.js';
import { toListed } from './run-documents.js';

type JsonColumn = 'config' | 'environment' | 'tags';

/**
 * A row of `runs`. It contains only the part of a large config or environment that lists show. Once `deleted_at` is set, in ms, the run does
 * not exist for anybody but the plugin that removes its rows. `import_key` is unique.
 */
export type RunRow = Omit<Run, JsonColumn> &
  Record<JsonColumn | 'search_name', string> &
  Life & { readonly deleted_at: number | null; readonly import_key: string | null };
/** The fields of a run that may be changed. */
export type RunFields = Pick<Run, 'name' | 'tags' | 'notes' | 'config' | 'environment' | 'max_steps'>;

export function toRow(run: Run, import_key: string | null): RunRow {
  const seen_at = run.job_id === null ? run.created_at : null;
  return {
    ...run,
    ...(toColumns(run) as Pick<RunRow, JsonColumn | 'search_name'>),
    seen_at,
    deleted_at: null,
    import_key,
  };
}

/** The columns of the fields that are given. */
export function toColumns({ config, environment, tags, ...plain }: Partial<RunFields>): Partial<RunRow> {
  return {
    ...plain,
    ...(plain.name !== undefined && { search_name: toSearchName(plain.name) }),
    ...(config && { config: toJson(toListed(config)) }),
    ...(environment && { environment: toJson(toListed(environment)) }),
    ...(tags && { tags: toJson(tags) }),
  };
}

export function fromRow({
  search_name: _name,
  seen_at: _seen,
  deleted_at: _deleted,
  import_key: _key,
  ...row
}: RunRow): Run {
  return {
    ...row,
    config: fromJson(row.config),
    environment: fromJson(row.environment),
    tags: fromJson(row.tags),
  };
}
