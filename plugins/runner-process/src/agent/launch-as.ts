import type { JobUser } from '@svc/agent';
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning, isStopped, type ProcessIdentity } from './process-table.js';
import type { StartFailure, StartOrder } from './start-failure.js';

const LOOK_MS = 200;
const STOPPED_LOOK_MS = 1000;
/** A launcher that is found stopped more often than this, one look after the other, is killed. */
const MAX_STOPS = 5;

/** How a process ended, as reported by Node; null when that is unknown. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null } | null;

/** A process that was started. */
export interface Launched {
  readonly identity: ProcessIdentity;
  readonly ended: Promise<ProcessEnd>;
}

/** What the launcher is told on its stdin, the only way in for what is secret. */
export interface LaunchOrder extends StartOrder {
  readonly user: JobUser;
  readonly env: Readonly<Record<string, string>>;
}

export type LaunchReport =
  /** From now on there may be a process. */
  | { readonly starting: true }
  | { readonly started: ProcessIdentity }
  | { readonly failed: StartFailure }
  | { readonly exit: NonNullable<ProcessEnd> };

/** The process could not be started; the message says why. */
export class LaunchFailed extends Error {
  override readonly name = 'LaunchFailed';
  readonly failure: StartFailure;

  constructor(failure: StartFailure) {
    super(failure.reason);
    this.failure = failure;
  }
}

/** The launcher was killed while it started the process, so it is unknown whether there is one. */
export class LauncherKilled extends Error {
  override readonly name = 'LauncherKilled';
}

/** Starts the command as the user, by way of a launcher. Throws LaunchFailed and LauncherKilled. `stdout` and `stderr`: open files. */
export async function launchAs(order: LaunchOrder, stdout: number, stderr: number): Promise<Launched> {
  // What identifies the job's processes is their stdout and stderr: the launcher has the files under other numbers.
  const child = spawn(process.execPath, [...process.execArgv, locateLauncher()], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', 'pipe', stdout, stderr],
  });
  child.once('error', () => undefined);
  const stdin = child.stdin as Writable;
  stdin.on('error', () => undefined);
  const { user, command, cwd, env } = order;
  stdin.end(JSON.stringify({ user, command, cwd, env } satisfies LaunchOrder));
  keepGoing(child);
  const reports = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]();
  const next = async (): Promise<LaunchReport | null> => {
    const { value, done } = await reports.next();
    return done ? null : (JSON.parse(value) as LaunchReport);
  };
  const started = await untilStarted(next);
  // It may be stopped again after its last report, and has nothing left to do.
  const ended = untilEnd(started, next).finally(() => child.kill('SIGKILL'));
  return { identity: started, ended };
}

/** The job may stop its launcher, as both have the same user. The launcher is continued, or killed when it is stopped repeatedly. */
function keepGoing(launcher: ChildProcess): void {
  const { pid } = launcher;
  if (pid === undefined) return;
  let stops = 0;
  const timer = setInterval(() => {
    stops = isStopped(pid) ? stops + 1 : 0;
    if (stops > 0) launcher.kill(stops > MAX_STOPS ? 'SIGKILL' : 'SIGCONT');
  }, STOPPED_LOOK_MS).unref();
  launcher.once('exit', () => clearInterval(timer));
}

async function untilStarted(next: () => Promise<LaunchReport | null>): Promise<ProcessIdentity> {
  const first = await next();
  const isStarting = first !== null && 'starting' in first;
  const report = isStarting ? await next() : first;
  if (report !== null && 'started' in report) return report.started;
  if (report !== null && 'failed' in report) throw new LaunchFailed(report.failed);
  throw isStarting
    ? new LauncherKilled()
    : new LaunchFailed({ reason: 'no process could be started', remedy: null });
}

/** The job may kill its launcher, as both have the same user: then this waits for the job's process, and its exit is unknown. */
async function untilEnd(
  identity: ProcessIdentity,
  next: () => Promise<LaunchReport | null>,
): Promise<ProcessEnd> {
  const last = await next();
  if (last !== null && 'exit' in last) return last.exit;
  while (isRunning(identity)) await delay(LOOK_MS);
  return null;
}

/** Beside this file, or beside the one that this was built into. */
function locateLauncher(): string {
  const extension = path.extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`./launcher${extension}`, import.meta.url));
}
