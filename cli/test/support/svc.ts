import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProgram } from '../../src/main.js';
import { execute } from '../../src/run-program.js';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The built program: from source each start would take two seconds of processor time. */
export const SVC = path.join(ROOT, 'cli/bin/svc.mjs');

// Does nothing when no source has changed since it was built.
execFileSync(process.execPath, [path.join(ROOT, 'scripts/build.mjs')]);

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in this process; what it writes is kept back. */
export async function runHere(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const before = { ...process.env };
  const written = { stdout: keepBack(process.stdout), stderr: keepBack(process.stderr) };
  Object.assign(process.env, env);
  try {
    const status = await execute(createProgram(), ['node', 'svc', ...args]);
    return { status, stdout: written.stdout.release(), stderr: written.stderr.release() };
  } finally {
    written.stdout.release();
    written.stderr.release();
    // Another object as process.env would leave the changes in the environment that os.homedir() reads.
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

function keepBack(stream: NodeJS.WriteStream): { release: () => string } {
  const { write } = stream;
  let text = '';
  stream.write = (piece: string | Uint8Array) => {
    text += String(piece);
    return true;
  };
  return {
    release() {
      stream.write = write;
      return text;
    },
  };
}

/** Starts it as a program of its own, with this environment alone. */
export function startSvc(args: readonly string[], env: NodeJS.ProcessEnv, stdin = '') {
  const program = spawn(process.execPath, [SVC, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    program[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  program.stdin.on('error', () => undefined).end(stdin);
  const ended = once(program, 'close').then(([status]): Ended => ({ status: status as number, ...written }));
  return { program, written, ended };
}
