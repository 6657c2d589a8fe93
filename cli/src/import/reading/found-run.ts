import type { BodyOf, routes } from '@svc/contract';
import type { Skips } from './skips.js';

export type SourceName = 'svc offline' | 'wandb' | 'mlflow' | 'hugging face' | 'lightning' | 'tensorboard';

/** A training that was found below the directory. */
export interface FoundRun {
  readonly source: SourceName;
  /** Of the folder or file that tells of it, absolute. */
  readonly path: string;
  /**
   * Reads all of it in the order in which it was written, the facts first. The facts may come again, with what was found on the way.
   * `skips` is told what is left out. Throws Unreadable, and errors of the file system.
   */
  read(skips: Skips): AsyncIterable<Finding>;
}

export type Finding =
  | { readonly kind: 'facts'; readonly facts: RunFacts }
  | { readonly kind: 'points'; readonly points: readonly SourcePoint[] }
  | { readonly kind: 'checkpoint'; readonly body: CheckpointBody }
  | { readonly kind: 'metric'; readonly name: string; readonly body: MetricBody }
  | {
      readonly kind: 'event';
      /** No two events of the run have the same one. */ readonly key: string;
      readonly body: EventBody;
    };

export type CheckpointBody = BodyOf<typeof routes.createCheckpoint>;
export type MetricBody = BodyOf<typeof routes.defineRunMetric>;
export type EventBody = BodyOf<typeof routes.createEvent>;

export type TrainingEnd = 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

export interface RunFacts {
  /** The same at each import of this training, and of no other one of this source. */
  readonly key: string;
  readonly name: string;
  readonly project?: string | undefined;
  readonly experiment?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** What the source says beside: shown below `import` in the environment of the run. */
  readonly origin?: Readonly<Record<string, unknown>> | undefined;
  readonly environment?: Readonly<Record<string, unknown>> | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly notes?: string | undefined;
  readonly max_steps?: number | undefined;
  /** In ms. Left out: the times of the first and the last point. */
  readonly started_at?: number | undefined;
  readonly finished_at?: number | undefined;
  /** How the training ended, where the source tells. */
  readonly ended?: TrainingEnd | undefined;
  /** A run even without points and checkpoints. */
  readonly mayBeEmpty?: boolean;
  /** The id of the run that the training had begun on a server: where that has it, all belongs to it. */
  readonly begun?: string | undefined;
}

/** A point as the source has it; the contract's limits are not checked yet. */
export interface SourcePoint {
  readonly seq: number;
  readonly name: string;
  readonly step: number;
  readonly value: number;
  /** In ms, a fraction is dropped. */
  readonly ts?: number | undefined;
  readonly epoch?: number | undefined;
  /** Its place in the source, for people. */
  readonly place: string;
}

/** Why nothing more of a training can be read; a sentence for the user. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}
