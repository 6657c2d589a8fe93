/**
 * The launcher: becomes the user as whom a job runs, with all its groups, and starts the job. Node cannot do that in one step:
 * `spawn` with a uid drops the supplementary groups. The shim stays root and keeps the attempt's files; this process has the rights of the job and no more.
 *
 * stdin: one `LaunchOrder` as JSON. 3: what it reports, a line of JSON each (`LaunchReport`). 4 and 5: stdout and stderr of the job.
 */
import { spawn } from 'node:child_process';
import { closeSync, readFileSync, writeSync } from 'node:fs';
import type { LaunchOrder, LaunchReport } from './launch-as.js';
import { identify } from './process-table.js';
import { explainStartFailure } from './start-failure.js';

const REPORTS = 3;
const STDOUT = 4;
const STDERR = 5;

// SIGUSR1 would open Node's debugger to the job, which could then report in the launcher's name.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => {});

const { user, command, cwd, env } = JSON.parse(readFileSync(0, 'utf8')) as LaunchOrder;
become(user);
launch();

/** Must hold: each step throws rather than be left out. The user comes last, for it may not do the others. */
function become({ name, uid, gid }: LaunchOrder['user']): void {
  const { initgroups, setgid, setuid } = process as Required<NodeJS.Process> & {
    initgroups(user: string, group: number): void;
  };
  initgroups(name, gid);
  setgid(gid);
  setuid(uid);
}

function launch(): void {
  const [program = '', ...args] = command;
  const fail = (error: unknown): void =>
    report({ failed: explainStartFailure(error as NodeJS.ErrnoException, { command, cwd }) });
  try {
    const stdio = ['ignore', STDOUT, STDERR] as const;
    report({ starting: true });
    const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: [...stdio] });
    for (const fd of [STDOUT, STDERR]) closeSync(fd);
    const { pid } = child;
    if (pid === undefined) return void child.once('error', fail);
    // Before the event loop turns nobody has reaped the child, so its entry in /proc is there even if it has ended.
    report({ started: identify(pid) ?? { pid, start_ticks: 0 } });
    child.once('exit', (code, signal) => report({ exit: { code, signal } }));
  } catch (error) {
    fail(error);
  }
}

function report(line: LaunchReport): void {
  try {
    writeSync(REPORTS, `${JSON.stringify(line)}\n`);
  } catch {
    // The shim was killed: nobody reads the report, but the job continues.
  }
}
