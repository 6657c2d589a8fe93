import type { AttemptKey, Exit, JobType } from '@svc/contract';
import { decision, observation } from '@svc/hooks';
import type { Mount } from './mounts.js';
import type { RunPaths } from './run-paths.js';
import type { JobUser } from './runner.js';

/** What a plugin is told of an attempt. */
export interface AttemptFacts extends AttemptKey {
  readonly runId: string | null;
  /** The job's. */
  readonly name: string;
  readonly runner: string;
  readonly workingDir: string;
  readonly gpuIndices: readonly number[];
  readonly paths: RunPaths;
  /** What its processes see of the host besides its working directory and its own files, as in a container; null: all, at the same paths. */
  readonly mounts: readonly Mount[] | null;
  /** What `attemptPrepare` noted, also before a restart of the agent. */
  readonly notes: AttemptNotes;
}

/** By plugin; JSON, kept in `plan.json`. */
export type AttemptNotes = Readonly<Record<string, unknown>>;

export interface AttemptDraft extends Omit<AttemptFacts, 'notes'> {
  readonly jobType: JobType;
  /** The job's own variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a plugin adds to an attempt before its start. */
export interface AttemptAddition {
  /** Variables of the job's processes, over those of the job; never written to a disk. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files that the job writes to: with `--run-as` they are made as its user's. */
  readonly files?: readonly string[];
  /** Files and directories that the job reads: a container gets them at the same paths. */
  readonly reads?: readonly string[];
  readonly notes?: AttemptNotes;
}

/** An attempt that is about to be started: its directory is there, and the server has said that it is to run here. */
export interface StartingAttempt extends AttemptFacts {
  /** The source tree that is to be in `workingDir`; null: none. */
  readonly snapshot: string | null;
  /** As whom its processes will run; null: as the agent does. */
  readonly user: JobUser | null;
  /** Aborts when the attempt is stopped or the agent closes. */
  readonly signal: AbortSignal;
}

export interface StartedAttempt extends AttemptFacts {
  readonly pid: number | null;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
}

export interface EndedAttempt extends AttemptFacts {
  /** It was told to stop, and ended for that. */
  readonly wasStopped: boolean;
}

/** Before the attempt is accepted. A tap that throws refuses the attempt: its message is what the user reads. */
export const attemptPrepare = decision.gather<[draft: AttemptDraft], AttemptAddition>('agent.attemptPrepare');
/**
 * Files that the job needs are brought here. A tap that throws keeps it from being started; the message of a DispatchFailed is what the user
 * reads. Again when the agent was restarted meanwhile.
 */
export const attemptStarting = decision<[attempt: StartingAttempt]>('agent.attemptStarting');
/** It runs, or was found running by an agent that has just started. */
export const attemptStarted = observation<[attempt: StartedAttempt]>('agent.attemptStarted');
/**
 * What became of it: each tap returns the exit, or what it found out instead. Again when the agent was restarted before
 * the server had the end. When a tap throws, the exit stands as the runner told it.
 */
export const attemptEnded = decision.waterfall<[exit: Exit, attempt: EndedAttempt]>('agent.attemptEnded');
