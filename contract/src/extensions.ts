import type { Static, TSchema } from 'typebox';
import type { Issue } from './errors.js';
import type { DeliveryMode } from './records/delivery.js';
import type { EventRecord, Severity } from './records/event.js';
import type { Job, JobAttempt, JobDraft } from './records/job.js';
import type { LogLine } from './records/log.js';
import type { MetricValue, RunSummary } from './records/metric.js';
import type { Run } from './records/run.js';

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

/** One target that is told of events. The plugin `push` owns the queue, the time-out and the retries. */
export interface Notifier {
  /** Of the target, not of its kind: it is in the log and in the list of deliveries. */
  readonly name: string;
  /** Default info: every severity. */
  readonly minSeverity?: Severity;
  /** The only types that it is told of. Left out or empty: all. */
  readonly types?: readonly string[];
  /** Default best-effort. With at-least-once it may be told of an event again, and tells by the id that it is the same. */
  readonly delivery?: DeliveryMode;
  /** Rejects when the target has not taken the event; the message is logged, so it holds no secret. `signal` aborts at the time-out. */
  send(event: EventRecord, signal: AbortSignal): Promise<void>;
}

/** All that is known of a subject, as each of its rules gets it. */
export interface Evidence {
  /** How does the run do? */
  readonly run: {
    readonly run: Run;
    readonly summary: RunSummary;
    readonly events: readonly EventRecord[];
  };
  /**
   * Why did the attempt fail? `lines` are the error lines of its log that were kept as they arrived, and the last of the log, oldest
   * first. `summary` is that of its run; null without a run.
   */
  readonly attempt: {
    readonly job: Job;
    readonly attempt: JobAttempt;
    readonly lines: readonly LogLine[];
    readonly events: readonly EventRecord[];
    readonly summary: RunSummary | null;
  };
}

/** A pure function over the evidence of one subject. A rule that does not apply concludes nothing: both lists are empty. */
export interface SemanticRule<Subject extends keyof Evidence = keyof Evidence> {
  readonly name: string;
  readonly subject: Subject;
  evaluate(evidence: Evidence[Subject]): Conclusion;
}

export interface Conclusion {
  readonly findings: readonly SemanticFinding[];
  /** Best first. */
  readonly next_actions: readonly NextAction[];
}

export interface SemanticFinding {
  readonly severity: Severity;
  readonly title: string;
  readonly message: string;
  /** How sure the rule is, from 0 to 1. */
  readonly confidence: number;
  readonly evidence: readonly Citation[];
  /** What to change, best first. */
  readonly fixes?: readonly string[];
}

/** Where the evidence of a finding can be looked up. */
export type Citation =
  | { readonly metric: string; readonly step: number; readonly value: MetricValue }
  | { readonly event_id: string }
  | { readonly attempt: number; readonly seq: number; readonly text: string }
  /** A field of the job, the attempt or the run. */
  | { readonly field: string; readonly value: string };

/** A tool of the MCP adapter; `args` passes its input schema as it stands. */
export interface NextAction {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly reason: string;
}
