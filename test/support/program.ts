import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Which svc runs, and where. */
export interface Installation {
  readonly program: string;
  readonly cwd: string;
}

/** The built program, as users of the repository run it. */
const BUILT: Installation = { program: `${ROOT}cli/bin/svc.mjs`, cwd: '/' };

export interface Ended {
  /** null when a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly pid: number;
  /** What it has written so far. */
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: Promise<Ended>;
  readonly isRunning: boolean;
  /** Its exit status or the signal that ended it; null while it runs. */
  readonly outcome: number | NodeJS.Signals | null;
  kill(signal?: NodeJS.Signals): void;
}

/** Tells scripts/test.mjs whose process it is, so that it ends with its suite. */
const { TEST_PROCESS_MARK } = process.env;

/** Runs `svc ARGS...` with exactly that environment; `under`: by another program and its arguments, such as a tracer. */
export function startSvc(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  under: readonly string[] = [],
  installation = BUILT,
): Program {
  const [program, ...all] = [...under, process.execPath, installation.program, ...args] as [
    string,
    ...string[],
  ];
  return startProgram(program, all, env, installation.cwd);
}

export function startProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = '/',
): Program {
  const child = spawn(program, args, {
    cwd,
    env: { ...env, TEST_PROCESS_MARK },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) =>
      resolve({ status, signal, stdout: written.stdout.text, stderr: written.stderr.text }),
    );
  });
  return {
    pid: child.pid ?? -1,
    get stdout() {
      return written.stdout.text;
    },
    get stderr() {
      return written.stderr.text;
    },
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    get outcome() {
      return child.signalCode ?? child.exitCode;
    },
    ended,
    kill: (signal = 'SIGTERM') => void child.kill(signal),
  };
}

function collect(stream: ChildProcess['stdout']): { text: string } {
  const collected = { text: '' };
  stream?.setEncoding('utf8').on('data', (piece: string) => (collected.text += piece));
  return collected;
}
