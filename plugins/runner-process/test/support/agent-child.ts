import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledShim } from './compiled-shim.js';

/** An agent in a process of its own. */
export class AgentChild {
  readonly #child: ChildProcess;

  constructor(url: string, stateDir: string) {
    const main = fileURLToPath(new URL('./agent-main.ts', import.meta.url));
    const node = ['--import', 'tsx', '--conditions=svc-source', main];
    const args = [...node, url, stateDir, JSON.stringify(compiledShim())];
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
