/** What a token may do. */
export const SCOPES = ['read', 'write', 'sdk', 'agent'] as const;

export const JOB_TYPES = ['TRAIN', 'EVALUATE'] as const;

/** Why an attempt did not succeed. `signal` is lower case as the specification writes it. */
export const FAILURE_REASONS = [
  'EVALUATION_RESULT_INVALID',
  'OOM',
  'EXIT_CODE',
  'DISPATCH_FAILED',
  'LOST',
  'signal',
] as const;

/** Failures after which a job is queued again by itself, as long as it has attempts left. The others would fail the same way. */
export const RETRIED_REASONS = ['EVALUATION_RESULT_INVALID', 'LOST', 'signal'] as const;

export const RUN_STATUSES = ['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'IMPORTED', 'LOST'] as const;

/** An evaluation is QUEUED until its job has ended. */
export const EVALUATION_STATUSES = ['QUEUED', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;

/** Where a value in a ranking comes from: an evaluation, or else what the training logged. */
export const VALUE_SOURCES = ['evaluation', 'training_fallback'] as const;

/** States in which a job, or a run without a job, is over for good. */
export const REMOVABLE_STATES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'IMPORTED'] as const;

export const NODE_STATUSES = ['ONLINE', 'OFFLINE', 'DRAINING'] as const;

/**
 * ok: it takes jobs. foreign: a process that is of no job is on it. quarantined: what a job left there is still on it. unhealthy: it is lost,
 * or nobody can tell how it does.
 */
export const SLOT_HEALTH_STATES = ['ok', 'foreign', 'quarantined', 'unhealthy'] as const;

export const HEALTH_STATUSES = ['ok', 'warning', 'critical', 'stale'] as const;

export const SEVERITIES = ['info', 'warning', 'critical'] as const;

/** How a target of push is told of events: once at most, or again until it has taken them. */
export const DELIVERY_MODES = ['best-effort', 'at-least-once'] as const;

/** FAILED: it is not tried again. */
export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;

export const EVENT_TYPES = [
  'JOB_QUEUED',
  'RUN_STARTED',
  'RUN_FINISHED',
  'CHECKPOINT_CREATED',
  'EVALUATION_FINISHED',
  'LOSS_NAN',
  'LOSS_SPIKE',
  'OOM',
  'OVERFITTING_SUSPECTED',
  'GPU_UNDERUTILIZED',
  'DISK_LOW',
  'AGENT_DISCONNECTED',
  'CUSTOM',
  'JOB_LOST',
  'JOB_FOUND',
  'RUN_LOST',
  'RUN_FOUND',
  'RUN_DELETED',
  'RUN_STALLED',
  'GPU_UNHEALTHY',
] as const;

export const LOG_STREAMS = ['stdout', 'stderr'] as const;

/** What JSON has no number for. */
export const NON_FINITE_VALUES = ['NaN', 'Infinity', '-Infinity'] as const;

export const TREND_NAMES = ['increasing', 'decreasing', 'stable', 'unknown'] as const;
export const DIRECTIONS = ['minimize', 'maximize'] as const;
export const METRIC_LEVELS = ['global', 'project', 'experiment', 'run'] as const;

export const LOG_FORMATS = ['text', 'jsonl'] as const;
export const EXPORT_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/**
 * The server's word on an attempt that an agent has. keep: go on; start it if it is only accepted. stop: kill it, then report its end.
 * forget: its end is on record (or it is nobody's): clean up.
 */
export const VERDICTS = ['keep', 'stop', 'forget'] as const;
