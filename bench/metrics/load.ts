import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FLAGS = ['--import', 'tsx', '--conditions', 'svc-source'];

/** Runs a client of this folder in a process of its own on that work; resolves to the one message that it sends back. */
export function runClient<T>(file: string, work: object): Promise<T> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: FLAGS });
  return new Promise((resolve, reject) => {
    let answer: unknown;
    child.on('message', (message) => (answer = message));
    child.once('exit', (code) =>
      code === 0 ? resolve(answer as T) : reject(new Error(`${file} ended with ${code}`)),
    );
    child.send(work);
  });
}
