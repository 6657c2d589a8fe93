import type { AttemptKey, Exit, RunnerProbe } from '@svc/contract';
import type { AgentLog } from './log.js';

/**
 * The agent half of a runner: it acts on the host. `Plan` is the JSON that the server half made; `State` is what `recover`
 * needs to find the attempt again after the agent was restarted.
 */
export interface RunnerAgent<Plan = unknown, State = unknown> {
  readonly name: string;
  /** Raise it when `State` changes its shape; `recover` is given the version that was saved. */
  readonly stateVersion: number;
  /** Can this host run it? Called once, before the first hello. */
  probe(signal: AbortSignal): Promise<Probe>;
  /** Called once per attempt. Rejects (`DispatchFailed` says why) when nothing was started; resolves once the process exists. */
  start(plan: Plan, ctx: RunContext<State>): Promise<Run>;
  /** Called once per saved attempt when the agent starts. null: provably gone, and nobody knows how it ended. */
  recover(saved: Saved<State>, ctx: RecoverContext<State>): Promise<Run | null>;
  /** Kills what carries this node's mark and is not in `keep` (keys of `attemptKey`). May be repeated. */
  reap(keep: ReadonlySet<string>, nodeId: string): Promise<void>;
  /** The agent closes: let go of everything but the attempts, which go on. */
  close?(): Promise<void>;
}

export type Probe = Omit<RunnerProbe, 'name'>;

export interface Saved<State> {
  readonly version: number;
  readonly state: State;
}

export interface RecoverContext<State> extends AttemptKey {
  readonly nodeId: string;
  readonly nodeName: string;
  /** The attempt's own directory, absolute, mode 0700. */
  readonly dir: string;
  /** Files that the process appends to; the agent ships them. */
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Aborts when the agent closes: stop watching, touch nothing. */
  readonly signal: AbortSignal;
  readonly log: AgentLog;
  readonly clock: Clock;
  /** There before it resolves, whatever becomes of the agent; it counts in this boot of the host alone. */
  save(state: State): Promise<void>;
}

export interface RunContext<State> extends RecoverContext<State> {
  /** The whole environment of the process. Never written to a disk or a log. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** As whom its processes run; null: as the agent does. */
  readonly user: JobUser | null;
  readonly gpuIndices: readonly number[];
}

/** One attempt that was started. */
export interface Run {
  /** null when the runner has none, or does not know it. */
  readonly pid: number | null;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** Resolves once, when the main process has ended and nothing of the attempt is left. Never resolves after `ctx.signal`. */
  readonly exit: Promise<Exit>;
  signal(name: NodeJS.Signals): Promise<void>;
  /** Asks it to end, and kills what is left after `graceMs`. Resolves when nothing is left; again: the shorter grace holds. */
  stop(graceMs: number): Promise<void>;
  /** Kills at once and gives back whatever the runner holds for it. */
  destroy(): Promise<void>;
}

/** Nothing was started; the message says what is missing and where. */
export class DispatchFailed extends Error {
  override readonly name = 'DispatchFailed';
}

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The identity of an attempt as text: `job_…/2`. */
export function attemptKey({ job_id, attempt }: AttemptKey): string {
  return `${job_id}/${attempt}`;
}

/** As whom jobs run, when that is another than the agent. */
export interface JobUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}
