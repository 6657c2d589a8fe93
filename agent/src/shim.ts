/**
 * The shim: a program that owns processes in the agent's place, so that an agent that crashes or is replaced loses neither
 * the process, nor a byte of its output, nor its exit code. It reads from stdin, one line of JSON each, orders (`ShimOrder`), one job
 * at a time, and that nothing of a job is left (`ClearedOut`). It reports in files alone. When stdin ends the agent is gone:
 * an idle shim exits, one with a job stays until the job has ended, kills what the job left behind, and exits.
 *
 * Imports nothing but node's own modules and a few small files beside it: it starts fast and stays small.
 */
import type { Exit } from '@svc/contract';
import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, closeSync, constants as fsConstants, openSync, statSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import path from 'node:path';
import { isMissing, writeAtomicSync, writeDurableSync } from './durable-file.js';
import { createOomWitness } from './oom-witness.js';
import { identify, readBootId, sweep, type AttemptSigns, type ProcessIdentity } from './process-table.js';
import {
  EXIT_FILE,
  STARTED_FILE,
  type ClearedOut,
  type Ended,
  type ShimOrder,
  type Started,
} from './shim-protocol.js';

const RETRY_MS = 1000;
/** So a shell ends whose last command was ended by SIGKILL. */
const SHELL_KILLED = 128 + osConstants.signals.SIGKILL;
const OPEN_FLAGS = fsConstants.O_WRONLY | fsConstants.O_CREAT | fsConstants.O_APPEND;

let busy = false;
let agentGone = false;
let last: { order: ShimOrder; leader: ProcessIdentity | null } | null = null;

const oomWitness = createOomWitness();
// What the kernel has said so far is read while nobody waits.
setImmediate(() => oomWitness.prepare());

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

let input = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text: string) => {
  const lines = (input + text).split('\n');
  input = lines.pop() ?? '';
  for (const line of lines) obey(JSON.parse(line) as ShimOrder | ClearedOut);
});
process.stdin.on('end', leave);
process.stdin.on('error', leave);

function leave(): void {
  agentGone = true;
  if (!busy) void clearOutAndExit();
}

/** What has been cleared out after is forgotten: in days to come its leader's number may be that of a stranger's group. */
function obey(order: ShimOrder | ClearedOut): void {
  if (order === null) last = null;
  else void carryOut(order);
}

async function carryOut(order: ShimOrder): Promise<void> {
  busy = true;
  last = { order, leader: null };
  await persist(order, EXIT_FILE, await supervise(order), writeDurableSync);
  busy = false;
  if (agentGone) await clearOutAndExit();
}

/** The agent clears out after a job. Once it is gone nobody else will. */
async function clearOutAndExit(): Promise<void> {
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
  const { child, facts } = started;
  last = { order, leader: facts };
  const oom = oomWitness.watch(facts.pid);
  const ended = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => {
      const isOom =
        signal === 'SIGKILL' ? oom.wasKilled() : code === SHELL_KILLED && oom.wasDescendantKilled();
      oom.close();
      resolve({ ...toExit(code, signal, isOom), finished_at: Date.now() });
    });
  });
  // It counts in this boot of the host alone.
  await persist(order, STARTED_FILE, facts, writeAtomicSync);
  return ended;
}

async function start(order: ShimOrder): Promise<{ child: ChildProcess; facts: Started }> {
  const [program = '', ...args] = order.command;
  const { cwd, env } = order;
  const stdout = openSync(order.stdoutPath, OPEN_FLAGS, 0o600);
  const stderr = openSync(order.stderrPath, OPEN_FLAGS, 0o600);
  try {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', stdout, stderr] });
    if (child.pid === undefined) await new Promise((_, reject) => child.once('error', reject));
    // Before the event loop turns nobody has reaped the child, so its entry in /proc is there even if it has ended.
    const identity = identify(child.pid as number) ?? { pid: child.pid as number, start_ticks: 0 };
    return { child, facts: { ...identity, boot_id: readBootId(), started_at: Date.now() } };
  } finally {
    closeSync(stdout);
    closeSync(stderr);
  }
}

function toExit(code: number | null, signal: NodeJS.Signals | null, isOom: boolean): Exit {
  if (signal === null) return isOom ? { kind: 'oom', code } : { kind: 'exited', code: code ?? 0 };
  const number = -osConstants.signals[signal];
  return isOom ? { kind: 'oom', code: number } : { kind: 'signaled', signal, code: number };
}

function toFailure(error: unknown, order: ShimOrder): Ended {
  const message = `${explain(error as NodeJS.ErrnoException, order)} on ${order.host}`;
  return { kind: 'dispatch_failed', message, finished_at: Date.now() };
}

/** Starting a program fails with one code for several causes: look which it was. */
function explain(error: NodeJS.ErrnoException, order: ShimOrder): string {
  const program = order.command[0] ?? '';
  if (error.syscall === 'open')
    return `${error.path ?? order.dir} cannot be written (${error.code ?? error.message})`;
  const trouble = findWorkingDirTrouble(order.cwd);
  if (trouble !== null) return trouble;
  if (error.code === 'ENOENT') return explainMissing(program, order);
  if (error.code === 'EACCES') return `permission denied: ${program} cannot be executed`;
  if (error.code === 'E2BIG') return 'the command and its environment are too long for the system';
  return `${program} could not be started (${error.code ?? error.message})`;
}

function findWorkingDirTrouble(cwd: string): string | null {
  try {
    if (!statSync(cwd).isDirectory()) return `working_dir ${cwd} is not a directory`;
    accessSync(cwd, fsConstants.X_OK);
    return null;
  } catch (error) {
    return isMissing(error)
      ? `working_dir ${cwd} does not exist`
      : `permission denied: working_dir ${cwd} cannot be entered`;
  }
}

function explainMissing(program: string, order: ShimOrder): string {
  if (!program.includes('/')) return `program ${program} was not found in PATH`;
  const file = path.resolve(order.cwd, program);
  try {
    statSync(file);
  } catch {
    return `program ${file} does not exist`;
  }
  return `program ${file} names an interpreter that does not exist`;
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
