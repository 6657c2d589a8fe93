import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { identify, type ProcessIdentity } from './process-table.js';
import type { LeftoversKilled, ShimOrder } from './shim-protocol.js';

const WARM_SHIMS = 1;
const SPARE_SHIMS = 4;
const WARM_DELAY_MS = 100;
const TRIM_DELAY_MS = 5000;
/** A shim waits all its life: without optimizing compiler and helper threads it stays under 45 MB. */
export const SHIM_FLAGS = ['--no-opt', '--single-threaded-gc', '--v8-pool-size=0'] as const;

/** A shim process that this agent started, and the agent's end of its stdin. */
export class Shim {
  readonly identity: ProcessIdentity;
  readonly #child: ChildProcess;

  /** Throws when the system refuses another process. */
  constructor(command: readonly string[], onExit: (shim: Shim) => void) {
    const [program = '', ...args] = command;
    const env = { PATH: process.env['PATH'] };
    this.#child = spawn(program, args, {
      detached: true,
      cwd: '/',
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#child.on('error', () => onExit(this)).on('exit', () => onExit(this));
    // A shim that dies takes its pipe along; that it died shows in the process table.
    this.#child.stdin?.on('error', () => {});
    const identity = this.#child.pid === undefined ? null : identify(this.#child.pid);
    if (identity === null) throw new Error(`the shim ${program} could not be started`);
    this.identity = identity;
    this.#child.unref();
    (this.#child.stdin as Socket).unref();
  }

  /** Hands over one job. Must hold: the job handed over before, if any, is over and its leftovers are killed. */
  order(order: ShimOrder): void {
    this.#write(order);
  }

  /** Says that nothing is left of the job handed over before: it need not look for leftovers. */
  leftoversKilled(): void {
    this.#write(null);
  }

  /** Says that no agent listens any more: it exits, with a job once that has ended. */
  dismiss(): void {
    this.#child.stdin?.end();
  }

  #write(line: ShimOrder | LeftoversKilled): void {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
  }
}

/**
 * Keeps a shim started and waiting, so that no job waits for Node to start, and takes back shims whose job is over, so that
 * a row of short jobs starts none. However this process ends, the system then closes the pipes and idle shims exit.
 */
export class ShimPool {
  readonly #command: readonly string[];
  readonly #alive = new Set<Shim>();
  readonly #idle: Shim[] = [];
  #warming: NodeJS.Timeout | null = null;
  #trimming: NodeJS.Timeout | null = null;
  #closed = false;

  /** `command`: program and arguments that start a shim; by default the file beside this one, under this Node. */
  constructor(command: readonly string[] = locateShim()) {
    this.#command = command;
  }

  /** Starts a shim now, unless one waits already. */
  warm(): void {
    if (!this.#closed && this.#idle.length < WARM_SHIMS) this.#idle.push(this.#spawn());
  }

  /** Throws when none waits and the system refuses another process, or when the pool was closed. */
  take(): Shim {
    if (this.#closed) throw new Error('the agent closes');
    const shim = this.#idle.pop() ?? this.#spawn();
    this.#warming ??= setTimeout(() => this.#warmAgain(), WARM_DELAY_MS).unref();
    return shim;
  }

  /** Gives a shim back whose job is over and whose leftovers are killed. */
  release(shim: Shim): void {
    if (!this.#alive.has(shim)) return;
    shim.leftoversKilled();
    if (this.#closed || this.#idle.length >= SPARE_SHIMS) return shim.dismiss();
    this.#idle.push(shim);
    this.#trimming ??= setTimeout(() => this.#trim(), TRIM_DELAY_MS).unref();
  }

  /** Shims with a job stay until it has ended. */
  close(): void {
    this.#closed = true;
    for (const timer of [this.#warming, this.#trimming]) if (timer !== null) clearTimeout(timer);
    for (const shim of this.#alive) shim.dismiss();
  }

  #warmAgain(): void {
    this.#warming = null;
    try {
      this.warm();
    } catch {
      // The next job that needs a shim tries again, and says what is wrong.
    }
  }

  #trim(): void {
    this.#trimming = null;
    for (const shim of this.#idle.splice(WARM_SHIMS)) shim.dismiss();
  }

  #spawn(): Shim {
    const shim = new Shim(this.#command, (gone) => this.#forget(gone));
    this.#alive.add(shim);
    return shim;
  }

  #forget(gone: Shim): void {
    this.#alive.delete(gone);
    const index = this.#idle.indexOf(gone);
    if (index >= 0) this.#idle.splice(index, 1);
  }
}

/** Compiled, the shim is a plain program; from source it needs tsx, which is there wherever the source is run. */
function locateShim(): readonly string[] {
  const isSource = import.meta.url.endsWith('.ts');
  const file = fileURLToPath(new URL(isSource ? './shim.ts' : './shim.js', import.meta.url));
  const loader = isSource ? ['--import', import.meta.resolve('tsx'), '--conditions=svc-source'] : [];
  return [process.execPath, ...SHIM_FLAGS, ...loader, file];
}
