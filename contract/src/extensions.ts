import type { Static, TSchema } from 'typebox';
import type { Issue } from './errors.js';
import type { EventDraft, EventRecord } from './records/event.js';
import type { Job, JobDraft } from './records/job.js';
import type { LogLine } from './records/log.js';
import type { MetricPoint } from './records/metric.js';

/** What plugins register with the server: the entries of its registration hooks. */

/** The server half of a runner: pure. What can be refused at submit is refused here. */
export interface RunnerServer<Options extends TSchema = TSchema, Plan = unknown> {
  readonly name: string;
  /** Schema of the job's `runner_options`. */
  readonly optionsSchema: Options;
  /** `external`: another engine schedules it, so it takes no slot. */
  readonly placement: 'slots' | 'external';
  check?(options: Static<Options>, draft: JobDraft): readonly Issue[];
  /** Called once per attempt: the frozen JSON that the agent half executes. */
  plan(options: Static<Options>, job: Job): Plan | Promise<Plan>;
}

/** A pure fold over what happens; the engine owns hold time, cool-down and de-duplication by `fingerprint`. */
export interface Detector<Options extends TSchema = TSchema, Memory = unknown> {
  readonly name: string;
  readonly optionsSchema: Options;
  init(options: Static<Options>): Memory;
  step(memory: Memory, input: DetectorInput): { memory: Memory; findings: readonly Finding[] };
}

export type DetectorInput =
  | { kind: 'metric'; at: number; run_id: string; points: readonly MetricPoint[] }
  | { kind: 'log'; at: number; job_id: string; attempt: number; lines: readonly LogLine[] }
  | { kind: 'state'; at: number; job: Job }
  | { kind: 'tick'; at: number };

/** Two findings of one fingerprint are the same trouble. */
export interface Finding extends EventDraft {
  readonly fingerprint: string;
}

/** Best effort, at most once. `signal` aborts at the time-out. */
export interface Notifier {
  readonly name: string;
  send(event: EventRecord, signal: AbortSignal): Promise<void>;
}

/** A function over evidence; the semantic plugin defines what evidence holds for each subject. */
export interface SemanticRule<Evidence = unknown, Result = unknown> {
  readonly name: string;
  readonly subject: string;
  evaluate(evidence: Evidence): readonly Result[];
}
