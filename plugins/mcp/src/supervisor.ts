import { retryDelayMs } from '@svc/client';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** One that has run for this long has started well: the pause before its next start is short again. */
const WELL_AFTER_MS = 60_000;
const LONGEST_PAUSE_MS = 60_000;
const GRACE_MS = 6_000;

export interface Watch {
  info(message: string): void;
  warn(message: string): void;
}

/** Keeps a program running: when it ends it is started again, after a pause that grows while it fails. */
export class Supervisor {
  readonly #args: readonly string[];
  readonly #watch: Watch;
  #child: ChildProcess | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #failures = 0;

  /** `args`: of Node.js. */
  constructor(args: readonly string[], watch: Watch) {
    this.#args = args;
    this.#watch = watch;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const startedAt = performance.now();
    const child = spawn(process.execPath, this.#args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: withoutSecrets(process.env),
    });
    this.#child = child;
    let lastWords = '';
    createInterface({ input: child.stderr! }).on('line', (line) => (lastWords = line.slice(0, 500)));
    child.once('message', (message) => {
      this.#watch.info(`listens on ${(message as { url: string }).url}`);
    });
    child.once('error', () => undefined);
    child.once('close', (code, signal) => {
      this.#child = null;
      if (this.#isStopping) return;
      const isWell = performance.now() - startedAt >= WELL_AFTER_MS;
      this.#failures = isWell ? 0 : this.#failures + 1;
      this.#again(
        `${signal ? `ended by ${signal}` : `ended with status ${code}`}${lastWords && `: ${lastWords}`}`,
      );
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (!child) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
    await closed;
    clearTimeout(timer);
  }

  #again(how: string): void {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, retryDelayMs(0) * 2 ** this.#failures);
    this.#watch.warn(`the MCP adapter ${how}; it is started again in ${Math.ceil(pauseMs / 1000)} s`);
    this.#timer = setTimeout(() => this.start(), pauseMs);
  }
}

/** The adapter acts with the tokens of its callers alone, and needs no password of a database. */
function withoutSecrets({ SVC_TOKEN: _token, SVC_DATABASE_URL: _database, ...env }: NodeJS.ProcessEnv) {
  return env;
}
