/**
 * The shim: a program that owns processes in the agent's place, so that an agent that crashes or is replaced loses neither
 * the process, nor a byte of its output, nor its exit code. It reads from stdin, one line of JSON each, orders (`ShimOrder`), one job
 * at a time, and that nothing of a job is left (`LeftoversKilled`). It reports in files alone. When stdin ends the agent is gone:
 * an idle shim exits, one with a job stays until the job has ended, kills what the job left behind, and exits.
 *
 * Imports nothing but node's own modules and a few small files beside it: it starts fast and stays small.
 */
import { EXIT_FILE, type Ended } from '@svc/agent/attempt-end';
import { readBootId } from '@svc/agent/boot-id';
import { isMissing, writeAtomicSync, writeDurableSync } from '@svc/agent/durable-file';
import type { Exit } from '@svc/contract';
import { spawn } from 'node:child_process';
import { closeSync, constants as fsConstants, openSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import path from 'node:path';
import { launchAs, LaunchFailed, LauncherKilled, type Launched, type ProcessEnd } from './launch-as.js';
import { createOomWitness } from './oom-witness.js';
import { identify, sweep, type AttemptSigns, type ProcessIdentity } from './process-table.js';
import { STARTED_FILE, type LeftoversKilled, type ShimOrder, type Started } from './shim-protocol.js';
import { explainStartFailure } from './start-failure.js';

const RETRY_MS = 1000;
/** Exit code of a shell whose last command was killed by SIGKILL. */
const SHELL_KILLED = 128 + osConstants.signals.SIGKILL;
const OPEN_FLAGS = fsConstants.O_WRONLY | fsConstants.O_CREAT | fsConstants.O_APPEND;

let busy = false;
let agentGone = false;
let last: { order: ShimOrder; leader: ProcessIdentity | null } | null = null;

const oomWitness = createOomWitness();
// Reads the kernel's old messages before the first job comes.
setImmediate(() => oomWitness.prepare());

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

let input = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  const lines = (input + text).split('\n');
  input = lines.pop() ?? '';
  for (const line of lines) handleLine(JSON.parse(line) as ShimOrder | LeftoversKilled);
});
process.stdin.on('end', leave);
process.stdin.on('error', leave);

function leave(): void {
  agentGone = true;
  if (!busy) void killLeftoversAndExit();
}

/** A job without leftovers must be forgotten: later its leader's pid may belong to an unrelated process group. */
function handleLine(order: ShimOrder | LeftoversKilled): void {
  if (order === null) last = null;
  else void runJob(order);
}

async function runJob(order: ShimOrder): Promise<void> {
  busy = true;
  last = { order, leader: null };
  await persist(order, EXIT_FILE, await supervise(order), writeDurableSync);
  busy = false;
  if (agentGone) await killLeftoversAndExit();
}

/** The agent kills the leftovers of a job; after the agent has ended, the shim must do it. */
async function killLeftoversAndExit(): Promise<void> {
  if (last !== null) await sweep(toSigns(last));
  process.exit(0);
}

function toSigns({ order, leader }: NonNullable<typeof last>): AttemptSigns {
  return { mark: order.mark, leader, outputs: [order.stdoutPath, order.stderrPath] };
}

async function supervise(order: ShimOrder): Promise<Ended> {
  oomWitness.prepare();
  const started = await start(order).catch((error: unknown) => toFailure(error, order));
  if ('kind' in started) return started;
  const { launched, facts } = started;
  last = { order, leader: facts };
  const oom = oomWitness.watch(facts.pid);
  const ended = launched.ended.then((end) => {
    const isOom =
      end?.signal === 'SIGKILL' ? oom.wasKilled() : end?.code === SHELL_KILLED && oom.wasDescendantKilled();
    oom.close();
    return { ...toExit(end, isOom), finished_at: Date.now() };
  });
  // It counts in this boot of the host alone.
  await persist(order, STARTED_FILE, facts, writeAtomicSync);
  return ended;
}

async function start(order: ShimOrder): Promise<{ launched: Launched; facts: Started }> {
  const stdout = openSync(order.stdoutPath, OPEN_FLAGS, 0o600);
  const stderr = openSync(order.stderrPath, OPEN_FLAGS, 0o600);
  try {
    const { user } = order;
    const launched = user
      ? await launchAs({ ...order, user }, stdout, stderr)
      : await launch(order, stdout, stderr);
    return { launched, facts: { ...launched.identity, boot_id: readBootId(), started_at: Date.now() } };
  } finally {
    closeSync(stdout);
    closeSync(stderr);
  }
}

/** As the user that we are. */
async function launch({ command, cwd, env }: ShimOrder, stdout: number, stderr: number): Promise<Launched> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', stdout, stderr] });
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) await new Promise((_, reject) => child.once('error', reject));
  const pid = child.pid as number;
  // Before the event loop turns nobody has reaped the child, so its entry in /proc is there even if it has ended.
  return { identity: identify(pid) ?? { pid, start_ticks: 0 }, ended };
}

const LAUNCHER_KILLED = {
  kind: 'lost',
  reason: 'the process that started it was killed, so nobody knows how it ended',
} as const;

function toExit(end: ProcessEnd, isOom: boolean): Exit {
  if (end === null) return LAUNCHER_KILLED;
  const { code, signal } = end;
  if (signal === null) return isOom ? { kind: 'oom', code } : { kind: 'exited', code: code ?? 0 };
  const number = -osConstants.signals[signal];
  return isOom ? { kind: 'oom', code: number } : { kind: 'signaled', signal, code: number };
}

function toFailure(error: unknown, order: ShimOrder): Ended {
  if (error instanceof LauncherKilled) return { ...LAUNCHER_KILLED, finished_at: Date.now() };
  const { reason, remedy } =
    error instanceof LaunchFailed ? error.failure : explainStartFailure(error as Error, order);
  const where = `${order.user ? ` as ${order.user.name}` : ''} on ${order.host}`;
  const message = `${reason}${where}${remedy === null ? '' : `: ${remedy}`}`;
  return { kind: 'dispatch_failed', message, finished_at: Date.now() };
}

/** Until it is on the disk: a full disk delays the report, it does not lose it. */
async function persist(
  order: ShimOrder,
  file: string,
  content: Started | Ended,
  write: typeof writeDurableSync,
): Promise<void> {
  for (;;) {
    try {
      write(path.join(order.dir, file), content);
      return;
    } catch (error) {
      if (isMissing(error)) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
