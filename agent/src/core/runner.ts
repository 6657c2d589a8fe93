import type { AttemptKey, Exit, RunnerProbe } from '@svc/contract';
import type { Clock as HooksClock } from '@svc/hooks';
import type { HostSlot } from './host-slot.js';
import type { AgentLog } from './log.js';
import type { Mount } from './mounts.js';
import type { RunPaths } from './run-paths.js';

/**
 * The agent half of a runner: it acts on the host. `Plan` is the JSON that the server half made; `State` is what `recover`
 * needs to find the attempt again after the agent was restarted. A third party tests its own with `runnerConformance`.
 */
export interface RunnerAgent<Plan = unknown, State = unknown> {
  readonly name: string;
  /** Raise it when `State` changes its shape; `recover` is given the version that was saved. */
  readonly stateVersion: number;
  /** An attempt may go on after a reboot of the host: `recover` is asked then too. Otherwise its end is told as lost. */
  readonly survivesReboot: boolean;
  /** Can this host run it? Says so at once, and again whenever that changes. */
  fingerprint(signal: AbortSignal): AsyncIterable<Probe>;
  /**
   * Called once per attempt. Rejects (`DispatchFailed` says why) when nothing was started; resolves once the process exists. Must hold:
   * `ctx.save` has resolved before the command starts, or what an agent that is killed meanwhile has started is not found again.
   */
  start(plan: Plan, ctx: RunContext<State>): Promise<Run>;
  /** Called once per saved attempt when the agent starts. null: provably gone, and nobody knows how it ended. */
  recover(saved: Saved<State>, ctx: RecoverContext<State>): Promise<Run | null>;
  /** Of a runner whose processes do not see the files of the host: what the plan shows them of those, and where. Left out: they see all. */
  mounts?(plan: Plan): readonly Mount[];
  /** Kills what carries this node's mark and is not in `keep` (keys of `attemptKey`). May be repeated. */
  reap(keep: ReadonlySet<string>, nodeId: string): Promise<void>;
}

export type Probe = Omit<RunnerProbe, 'name'>;

export interface Saved<State> {
  readonly version: number;
  readonly state: State;
}

export interface RecoverContext<State> extends AttemptKey {
  readonly node: NodeName;
  /** In the attempt's own directory. The process appends to `stdout` and `stderr`; the agent ships them. */
  readonly paths: Pick<RunPaths, 'dir' | 'stdout' | 'stderr' | 'work' | 'spool'>;
  /** Aborts when the agent closes: stop watching, touch nothing. */
  readonly signal: AbortSignal;
  readonly log: AgentLog;
  readonly clock: Clock;
  /** There before it resolves, whatever becomes of the agent; it counts in this boot of the host, or longer with `survivesReboot`. */
  save(state: State): Promise<void>;
}

export interface RunContext<State> extends RecoverContext<State> {
  /** What the job's processes are to have: the job's own variables and what tells it of its attempt. Never written to a disk, a log or a command line. */
  readonly jobEnv: Environment;
  /** What a process of this host has besides; `jobEnv` goes over it. Of no use in a container. */
  readonly hostEnv: Environment;
  readonly workingDir: string;
  /** As whom its processes run; null: as the agent does. */
  readonly user: JobUser | null;
  readonly gpuIndices: readonly number[];
  /** The slots of these indices. */
  readonly gpus: readonly HostSlot[];
  /** Files of this host that its processes write, and files and directories that they read, as plugins name them. A container needs them at the same paths. */
  readonly files: readonly string[];
  readonly reads: readonly string[];
  /** Aborts when the attempt is stopped: a start that is still under way rejects. */
  readonly stopping: AbortSignal;
}

export type Environment = Readonly<Record<string, string>>;

export interface NodeName {
  readonly id: string;
  readonly name: string;
}

/** One attempt that was started. */
export interface Run {
  /** null when the runner has none, or does not know it. */
  readonly pid: number | null;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** Resolves once, when the main process has ended and nothing of the attempt is left. Never resolves after `ctx.signal`. */
  readonly exit: Promise<Exit>;
  /** Asks it to end, and kills what is left after `graceMs`. Resolves when nothing is left; again: the shorter grace holds. */
  stop(graceMs: number): Promise<void>;
}

/** Nothing was started; the message says what is missing and where. */
export class DispatchFailed extends Error {
  override readonly name = 'DispatchFailed';
}

export type Clock = Pick<HooksClock, 'now'>;

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
