import type { Static, TObject } from 'typebox';
import type { EventDraft, EventType, Severity } from './records/event.js';
import type { Job } from './records/job.js';
import type { LogLine } from './records/log.js';
import type { MetricPoint } from './records/metric.js';
import type { NodeRecord } from './records/node.js';
import type { Run } from './records/run.js';

/** What a detector keeps one memory for: an attempt is one of a job. */
export type DetectorSubject = 'run' | 'attempt' | 'node';

/**
 * A pure fold over what happens to one subject: `step` depends on its arguments alone, so that history can be replayed. It may change the memory
 * that it gets, and returns it. The engine has one memory for each subject, begins with an empty one after each start of the server, and decides
 * which findings become events: see `holdS` and `cooldownS`.
 */
export interface Detector<Options extends TObject = TObject, Memory = unknown> {
  /** In kebab-case; its options in svc.config.ts are under this name. */
  readonly name: string;
  readonly of: DetectorSubject;
  /** The kinds of input that `step` is called with. */
  readonly takes: readonly DetectorInput['kind'][];
  /** The events that it may find, for the documentation. */
  readonly finds: readonly EventNote[];
  readonly optionsSchema: Options;
  /** How long trouble must last before it is told; default 0. */
  readonly holdS?: number;
  /** For how long trouble of the same fingerprint is not told again. null, the default: as long as the subject exists. */
  readonly cooldownS?: number | null;
  /** The only metrics whose points it gets, by their name. Left out: all. */
  wantsMetric?(name: string): boolean;
  init(options: Static<Options>): Memory;
  step(memory: Memory, input: DetectorInput): DetectorStep<Memory>;
}

export interface EventNote {
  readonly type: EventType | (string & {});
  readonly severity: Severity;
  /** A clause: "a loss is NaN". */
  readonly when: string;
}

/**
 * What happened, in the order in which the server knew it. `at`: ms since the epoch, which never go back and skip the time in which the server
 * stood still. A run gets its points, the lines of its attempt, and what becomes of both; an attempt its lines, its job, and the figures of
 * its node while it runs there; a node its own figures. Everyone gets ticks, every few seconds.
 */
export type DetectorInput =
  | { kind: 'metric'; at: number; run_id: string; points: readonly MetricPoint[] }
  | { kind: 'log'; at: number; job_id: string; attempt: number; lines: readonly LogLine[] }
  | { kind: 'run'; at: number; run: Run }
  | { kind: 'job'; at: number; job: WatchedJob }
  | { kind: 'node'; at: number; node: NodeRecord }
  | { kind: 'node_metrics'; at: number; node_id: string; values: Readonly<Record<string, number>> }
  | { kind: 'tick'; at: number };

/** A job without what may be large or secret. */
export type WatchedJob = Omit<Job, 'command' | 'env' | 'runner_options'>;

export interface DetectorStep<Memory> {
  readonly memory: Memory;
  /** The trouble that this input shows, be it new or not. */
  readonly findings: readonly Finding[];
  /** Fingerprints of trouble that is over. */
  readonly over?: readonly string[];
}

/** Two findings of one fingerprint are the same trouble of the subject. The engine adds the run, the job and the node. */
export interface Finding extends Pick<EventDraft, 'type' | 'severity' | 'title' | 'message' | 'data'> {
  readonly fingerprint: string;
}
