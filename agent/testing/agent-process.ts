import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** Beside this file: TypeScript where we are run from source, else JavaScript. */
const PROGRAM = path.join(import.meta.dirname, `agent-program${path.extname(import.meta.filename)}`);

/** An agent in a process of its own, under the flags of this one: it loads the same kinds of modules. */
export class AgentProcess {
  readonly #child: ChildProcess;

  constructor(config: URL, serverUrl: string, stateDir: string) {
    const args = [...process.execArgv, PROGRAM, config.href, serverUrl, stateDir];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** Resolves with the exit code or the signal when the process is gone. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return exitCode ?? (signalCode as NodeJS.Signals);
    const ended = once(this.#child, 'exit') as Promise<[number | null, NodeJS.Signals]>;
    this.#child.kill(signal);
    const [code, by] = await ended;
    return code ?? by;
  }
}
