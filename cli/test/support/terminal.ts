import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { NODE_ARGS } from './svc.js';

/** Ends the program of a test that failed. */
export const LONGEST_MS = 25_000;

/** On a terminal of so many columns: `script` writes what it shows to stdout. */
export function startOnTerminal(columns: number, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const command = [process.execPath, ...NODE_ARGS, ...args].map((word) => `'${word}'`).join(' ');
  const program = spawn('script', ['-qfec', `stty cols ${columns}; exec ${command}`, '/dev/null'], {
    timeout: LONGEST_MS,
    env: { ...process.env, TERM: 'xterm', ...env },
  });
  return watchProgram(program);
}

export function watchProgram(program: ChildProcessWithoutNullStreams) {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    program[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const ended = once(program, 'close').then(([status]) => status as unknown);
  const stop = async (): Promise<void> => {
    program.kill();
    await ended;
  };
  const type = (keys: string) => program.stdin.write(keys);
  return { ended, stop, type, stdout: () => written.stdout, stderr: () => written.stderr };
}
