/** Rows that go with a job or a run. A test holds this list against the schema. */
export interface Belonging {
  readonly table: string;
  readonly key: readonly string[];
  /** Which rows, with `:ids` for the ids of jobs or runs. */
  readonly where: string;
}

const RUN_KEYS = 'select key from metric_runs where run_id in (:ids)';

export const CHECKPOINTS: Belonging = { table: 'checkpoints', key: ['id'], where: 'run_id in (:ids)' };

/** There may be very many of these, so they go in slices, before the run does. Children come before what they belong to. */
export const MANY_OF_RUN: readonly Belonging[] = [
  {
    table: 'metric_chunks',
    key: ['series_id', 'step_first', 'seq_first'],
    where: `series_id in (select id from metric_series where run_key in (${RUN_KEYS}))`,
  },
  { table: 'metric_series', key: ['id'], where: `run_key in (${RUN_KEYS})` },
  { table: 'metric_seq_ranges', key: ['run_key', 'from_seq'], where: `run_key in (${RUN_KEYS})` },
  CHECKPOINTS,
  { table: 'events', key: ['id'], where: 'run_id in (:ids)' },
];

export const MANY_OF_JOB: readonly Belonging[] = [
  { table: 'events', key: ['id'], where: 'job_id in (:ids)' },
];

/** These go in one transaction with the record itself. */
export const FEW_OF_RUN: readonly Belonging[] = [
  { table: 'metric_runs', key: ['key'], where: 'run_id in (:ids)' },
  { table: 'run_documents', key: ['run_id'], where: 'run_id in (:ids)' },
  { table: 'run_tags', key: ['run_id', 'tag'], where: 'run_id in (:ids)' },
  { table: 'tokens', key: ['id'], where: 'run_id in (:ids)' },
];

export const FEW_OF_JOB: readonly Belonging[] = [
  { table: 'assigned_runs', key: ['run_id'], where: 'job_id in (:ids)' },
  { table: 'attempts', key: ['job_id', 'attempt'], where: 'job_id in (:ids)' },
  { table: 'idempotency_keys', key: ['token_id', 'route', 'key'], where: 'job_id in (:ids)' },
  { table: 'tokens', key: ['id'], where: 'job_id in (:ids)' },
];

/** These say that something may still run, so their job stays. */
export const HOLDINGS = ['slots', 'cpu_claims'] as const;
