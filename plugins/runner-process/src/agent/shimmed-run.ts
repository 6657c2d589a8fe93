import { DispatchFailed, toReason, type RecoverContext, type Run, type RunContext } from '@svc/agent';
import { EXIT_FILE, toEnded, withoutTime } from '@svc/agent/attempt-end';
import { readBootId } from '@svc/agent/boot-id';
import type { Exit } from '@svc/contract';
import { readFileSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  isGroupAlive,
  isRunning,
  listDescendants,
  signalGroup,
  sweep,
  type AttemptMark,
  type ProcessIdentity,
} from './process-table.js';
import type { ShimPool } from './shim-pool.js';
import { STARTED_FILE, type Started } from './shim-protocol.js';

const POLL_MS = 1000;
const STOP_POLL_MS = 20;
const WAITING = 'killed processes of the attempt are not gone yet: waiting, at most a minute';
const GIVEN_UP =
  'killed processes of the attempt are not gone after a minute: no longer waiting, their memory and GPUs may still be in use';

/** Or `setproctitle` writes over the environment, by which the processes of an attempt are known. */
const KEEPS_ENVIRONMENT = { SPT_NOENV: '1' };

/** What `recover` needs: the shim that the order was given to. Saved before it is given. */
export interface ShimState {
  readonly shim: ProcessIdentity;
}

/** Runs a command under a shim of the pool. Rejects with `DispatchFailed` when the shim could not start it. */
export async function startUnderShim(
  pool: ShimPool,
  command: readonly string[],
  ctx: RunContext<ShimState>,
): Promise<Run> {
  const shim = pool.take();
  try {
    await ctx.save({ shim: shim.identity });
  } catch (error) {
    pool.release(shim);
    throw error;
  }
  const { paths, hostEnv, jobEnv, workingDir: cwd, user } = ctx;
  const { dir, stdout: stdoutPath, stderr: stderrPath } = paths;
  const env = { ...hostEnv, ...KEEPS_ENVIRONMENT, ...jobEnv };
  const run = new ShimmedRun(shim.identity, ctx);
  shim.order({
    dir,
    command,
    cwd,
    user,
    env,
    stdoutPath,
    stderrPath,
    mark: toMark(ctx),
    host: ctx.node.name,
  });
  const giveBack = () => pool.release(shim);
  void run.begun.then(() => run.exit).then(giveBack, giveBack);
  await run.begun;
  return run;
}

/** Finds a run again by its files, whether its shim and its process still live or not. */
export async function recoverUnderShim(state: ShimState, ctx: RecoverContext<ShimState>): Promise<Run> {
  const run = new ShimmedRun(state.shim, ctx);
  await run.begun;
  return run;
}

/** What every process of the attempt carries in its environment. */
function toMark({ node, job_id, attempt }: RecoverContext<ShimState>): AttemptMark {
  return { SVC_NODE_ID: node.id, SVC_JOB_ID: job_id, SVC_ATTEMPT: String(attempt) };
}

/**
 * Watches the files that a shim leaves in the attempt's directory: `started.json`, then `exit.json`. Fresh and recovered runs
 * are treated alike. When the shim dies first, the process continues and is watched by its pid; its exit code is then unknown, so the run
 * ends as `lost`.
 */
class ShimmedRun implements Run {
  readonly #shim: ProcessIdentity;
  readonly #ctx: RecoverContext<ShimState>;

  /** Resolves when it is known whether a process was started; rejects with `DispatchFailed` when not. */
  readonly begun: Promise<void>;
  readonly exit: Promise<Exit>;
  readonly #mark: AttemptMark;
  readonly #family: ProcessIdentity[] = [];
  #started: Started | null = null;
  #begin: () => void = () => {};
  #refuse: (error: Error) => void = () => {};
  #settle: (exit: Exit) => void = () => {};
  #watcher: FSWatcher | null = null;
  #poll: NodeJS.Timeout | null = null;
  #hasWarnedOrphaned = false;
  #ended = false;
  #stopping: Promise<void> | null = null;
  #killAt = Infinity;
  readonly #unwatch = (): void => {
    this.#ctx.signal.removeEventListener('abort', this.#unwatch);
    this.#watcher?.close();
    if (this.#poll !== null) clearInterval(this.#poll);
  };

  constructor(shim: ProcessIdentity, ctx: RecoverContext<ShimState>) {
    this.#shim = shim;
    this.#ctx = ctx;
    this.#mark = toMark(ctx);
    this.begun = new Promise((resolve, reject) => ([this.#begin, this.#refuse] = [resolve, reject]));
    this.exit = new Promise((resolve) => (this.#settle = resolve));
    this.#watch();
    this.#look();
  }

  get pid(): number | null {
    return this.#started?.pid ?? null;
  }

  get startedAt(): number {
    return this.#started?.started_at ?? this.#ctx.clock.now();
  }

  async stop(graceMs: number): Promise<void> {
    this.#killAt = Math.min(this.#killAt, performance.now() + graceMs);
    this.#stopping ??= this.#terminate().catch((error: unknown) => {
      this.#stopping = null;
      throw error;
    });
    await this.#stopping;
  }

  /** A stopped process gets SIGCONT too, or it could not act on the SIGTERM. */
  async #terminate(): Promise<void> {
    const leader = this.#started;
    if (leader !== null) {
      this.#noteDescendants(leader);
      signalGroup(leader, 'SIGTERM');
      signalGroup(leader, 'SIGCONT');
      while (isGroupAlive(leader) && performance.now() < this.#killAt) {
        if (this.#ctx.signal.aborted) return;
        await delay(STOP_POLL_MS);
      }
      this.#noteDescendants(leader);
      signalGroup(leader, 'SIGKILL');
    }
    await this.#killLeftovers();
  }

  /** Must run before the parents end: afterwards the descendants cannot be identified. */
  #noteDescendants(leader: ProcessIdentity): void {
    try {
      this.#family.push(...listDescendants(leader));
    } catch (error) {
      this.#ctx.log.warn('the descendants of a process cannot be listed now', { reason: toReason(error) });
    }
  }

  #watch(): void {
    this.#poll = setInterval(() => this.#look(), POLL_MS).unref();
    this.#ctx.signal.addEventListener('abort', this.#unwatch, { once: true });
    try {
      this.#watcher = watch(this.#ctx.paths.dir, { persistent: false }, (_, name) => {
        if (name === STARTED_FILE || name === EXIT_FILE) this.#look();
      });
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#ctx.log.warn('the system has no file watch left: polling', { dir: this.#ctx.paths.dir });
    }
  }

  /** Looks at the files, and at the shim only where they say nothing. */
  #look(): void {
    if (this.#ended || this.#ctx.signal.aborted) return;
    try {
      this.#lookAtFilesAndShim();
    } catch (error) {
      // The next look decides: what cannot be read now says nothing about the process.
      this.#ctx.log.warn('the processes of the host cannot be read now', { reason: toReason(error) });
    }
  }

  #lookAtFilesAndShim(): void {
    const shimRuns = isRunning(this.#shim);
    this.#readStarted();
    const ended = toEnded(readJson(path.join(this.#ctx.paths.dir, EXIT_FILE)));
    if (ended !== null) return this.#end(withoutTime(ended));
    if (shimRuns) return;
    if (this.#started === null)
      return this.#end({ kind: 'lost', reason: 'its shim was killed while it started the process' });
    if (!isRunning(this.#started))
      return this.#end({ kind: 'lost', reason: this.#toLostReason(this.#started) });
    this.#warnOrphaned(this.#started);
  }

  #readStarted(): void {
    const started = this.#started ?? readJson<Started>(path.join(this.#ctx.paths.dir, STARTED_FILE));
    if (started === null || started.boot_id !== readBootId()) return;
    this.#started = started;
    this.#begin();
  }

  #warnOrphaned({ pid }: Started): void {
    if (this.#hasWarnedOrphaned) return;
    this.#hasWarnedOrphaned = true;
    const { job_id, attempt } = this.#ctx;
    this.#ctx.log.warn('the shim was killed; its process goes on, but its exit code will not be known', {
      job_id,
      attempt,
      pid,
    });
  }

  #toLostReason({ pid }: Started): string {
    return `its shim was killed, so nobody knows how process ${pid} ended`;
  }

  #end(exit: Exit): void {
    this.#ended = true;
    this.#unwatch();
    if (exit.kind === 'dispatch_failed') return this.#refuse(new DispatchFailed(exit.message));
    this.#begin();
    void this.#killLeftoversAndSettle(exit);
  }

  /** During a stop the leftovers of the main process have the rest of the grace; otherwise they are killed at once. */
  async #killLeftoversAndSettle(exit: Exit): Promise<void> {
    while (!this.#ctx.signal.aborted) {
      try {
        await (this.#stopping ?? this.#killLeftovers());
        return this.#ctx.signal.aborted ? undefined : this.#settle(exit);
      } catch (error) {
        this.#ctx.log.warn('leftovers cannot be looked for now; it is tried again', {
          reason: toReason(error),
        });
        await delay(POLL_MS);
      }
    }
  }

  async #killLeftovers(): Promise<void> {
    const { job_id, attempt, paths, log, signal } = this.#ctx;
    const about = (pids: readonly number[]) => ({ job_id, attempt, pids });
    const outputs = [paths.stdout, paths.stderr];
    const signs = { mark: this.#mark, leader: this.#started, outputs, family: this.#family };
    const onSlow = (pids: readonly number[]) => log.warn(WAITING, about(pids));
    const survivors = await sweep(signs, { onSlow, signal });
    if (survivors.length > 0 && !signal.aborted) log.error(GIVEN_UP, about(survivors));
  }
}

/** null: not there yet. A file that is there is complete, for it was renamed into place. */
function readJson<T = unknown>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}
