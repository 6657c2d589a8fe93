import type { EventRecord } from '@svc/contract';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { note } from '../output/print.js';

/** From SIGTERM to SIGKILL. */
const GRACE_MS = 5_000;
/** The system refuses a variable of 128 KiB. What does not fit is on the standard input alone. */
const MOST_VALUE_BYTES = 100_000;

export interface EventProgramOptions {
  /** The program and its arguments; with `isShell` a command of the shell and the arguments that are its $1 and so on. */
  readonly command: readonly string[];
  readonly isShell: boolean;
  /** How many may run at the same time. */
  readonly jobs: number;
  /** A program that takes longer is killed, so that one that hangs does not hold back every later event. */
  readonly timeoutMs: number;
  /** At its abort the programs that run are ended. */
  readonly signal: AbortSignal;
  /** Called when the program for that event is over, however it ended; not for one that the abort has ended. */
  handled(id: string): void;
}

/**
 * Runs a program for each event. Whatever it does, the next event gets one: a failure is said on stderr. A program that is ended is ended
 * with all that it has started.
 */
export class EventPrograms {
  readonly #running = new Set<Promise<void>>();

  constructor(private readonly options: EventProgramOptions) {}

  /** `json` is the event as it came. Resolves when one more may be started. */
  async start(json: string): Promise<void> {
    const running: Promise<void> = this.#run(json).finally(() => this.#running.delete(running));
    this.#running.add(running);
    while (this.#running.size >= this.options.jobs) await Promise.race(this.#running);
  }

  /** Resolves when none is running. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(json: string): Promise<void> {
    const { command, isShell } = this.options;
    const [program = '', ...args] = isShell
      ? ['/bin/sh', '-c', command[0], 'sh', ...command.slice(1)]
      : command;
    const shown = isShell ? 'the shell' : program;
    const event = JSON.parse(json) as EventRecord;
    try {
      const end = await this.#runOnce([program, ...args] as [string, ...string[]], json, event);
      if (end !== null) note(`${shown} ${end} for ${event.id}`);
    } catch (error) {
      note(`${shown} cannot be started for ${event.id}: ${(error as Error).message}`);
    }
    if (!this.options.signal.aborted) this.options.handled(event.id);
  }

  /** How it failed, in words; null when it did not, and when the watch was ended. */
  async #runOnce([program, ...args]: [string, ...string[]], json: string, event: EventRecord) {
    const { timeoutMs, signal } = this.options;
    const env = { ...process.env, ...toEnvironment(event) };
    // A group of its own, so that it can be ended as a whole.
    const child = spawn(program, args, { env, stdio: ['pipe', 'inherit', 'inherit'], detached: true });
    // A program need not read the event.
    child.stdin.on('error', () => undefined).end(`${json}\n`);
    let isOver = false;
    const stop = (): void => endGroup(child);
    const limit = setTimeout(() => {
      isOver = true;
      stop();
    }, timeoutMs);
    signal.addEventListener('abort', stop);
    try {
      const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
      if (signal.aborted) stop();
      const [code, by] = await exited;
      if (isOver) return `was ended after ${timeoutMs / 1000} s`;
      return code === 0 || signal.aborted ? null : `ended with ${by ?? `exit code ${code}`}`;
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', stop);
      child.stdin.destroy();
    }
  }
}

function endGroup(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  send(child, 'SIGTERM');
  const kill = setTimeout(() => send(child, 'SIGKILL'), GRACE_MS);
  // What it has started may have outlived it.
  child.once('exit', () => {
    clearTimeout(kill);
    send(child, 'SIGKILL');
  });
}

function send({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What the event leaves empty is an empty variable, and so is what is too long for one. */
function toEnvironment(event: EventRecord): Record<string, string> {
  const values = {
    SVC_EVENT_ID: event.id,
    SVC_EVENT_TYPE: event.type,
    SVC_EVENT_SEVERITY: event.severity,
    SVC_EVENT_TITLE: event.title,
    SVC_EVENT_MESSAGE: event.message,
    SVC_EVENT_RUN_ID: event.run_id ?? '',
    SVC_EVENT_JOB_ID: event.job_id ?? '',
    SVC_EVENT_NODE_ID: event.node_id ?? '',
    SVC_EVENT_CREATED_AT: String(event.created_at),
    SVC_EVENT_DATA: JSON.stringify(event.data),
  };
  const fits = (value: string): boolean => Buffer.byteLength(value) <= MOST_VALUE_BYTES;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fits(value) ? value : '']));
}
