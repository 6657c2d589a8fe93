import type { DIRECTIONS, SEVERITIES } from '@svc/contract/protocol';

/** Names and numbers; the names of nested objects are joined with `/`. */
export interface Metrics {
  readonly [name: string]: number | bigint | boolean | Metrics;
}

export interface LogOptions {
  /** Left out: one more than the step logged last, at first 0. */
  readonly step?: number;
  /** May be a fraction. */
  readonly epoch?: number;
}

export interface CheckpointOptions {
  /** Left out: the step logged last. */
  readonly step?: number;
  readonly epoch?: number;
  /** At most 64 KiB of JSON. */
  readonly metadata?: object;
}

export interface EventOptions {
  readonly message?: string;
  readonly severity?: (typeof SEVERITIES)[number];
  /** At most 64 KiB of JSON. */
  readonly data?: object;
}

/** What a metric means, in place of what the server guesses from its name. */
export interface MetricMeaning {
  readonly direction?: (typeof DIRECTIONS)[number];
  /** Shown behind its values. */
  readonly unit?: string;
  /** Whether runs and checkpoints are ranked by it; of several the last one is. */
  readonly primary?: boolean;
}

/** Made by `init`. Its methods never throw because of the network; only `flush` and `finish` wait for it. */
export interface Run {
  /** null for one that was begun offline. */
  readonly id: string | null;
  /** null when the server or the job named it. */
  readonly name: string | null;
  /** It is the run of the job that this process runs in. */
  readonly isAttached: boolean;
  /** Its page in the console; null for one that was begun offline. */
  readonly url: string | null;
  /** The hyperparameters as they are now. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The last value of each metric that this process has logged. */
  readonly summary: Readonly<Record<string, number>>;
  /** Sets some values of the config. */
  updateConfig(changes: object): void;
  /** What a metric means in this run. */
  defineMetric(name: string, meaning: MetricMeaning): void;
  log(metrics: Metrics, options?: LogOptions): void;
  /** A file or a directory, once it is written completely. */
  checkpoint(file: string, options?: CheckpointOptions): void;
  event(title: string, options?: EventOptions): void;
  /** Whether all was delivered in that time, or lies in the spool of the job, from where the agent delivers it. */
  flush(timeoutMs?: number): Promise<boolean>;
  /** Ends the run, once all is delivered or the time for it is over. */
  finish(status?: FinishStatus): Promise<void>;
}

export type FinishStatus = (typeof FINISH_STATUSES)[number];
export const FINISH_STATUSES = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
