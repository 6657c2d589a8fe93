import type { AgentFrame, AttemptKey, AttemptReport, Exit } from '@svc/contract';
import { withoutTime, type Ended } from '../core/attempt-end.js';
import type { AttemptFacts } from '../core/attempt-hooks.js';
import { unlessMissing, writeAtomic, writeDurable } from '../core/durable-file.js';
import { toReason, type AgentLog } from '../core/log.js';
import type { Mount } from '../core/mounts.js';
import { retry } from '../core/retry.js';
import type { RunPaths } from '../core/run-paths.js';
import type { Clock, NodeName, Run } from '../core/runner.js';
import { within } from '../core/within.js';
import type { AttemptLogs } from '../logs/attempt-logs.js';
import type { SpoolDirectory } from '../spool/spool-directory.js';
import type { AttemptPlugins } from './attempt-plugins.js';
import { AttemptLife } from './attempt-state.js';
import { loadEnd, saveReleased, type Runtime, type SavedPlan } from './run-dir.js';

/** So long the report of an end waits for the last of the log to be on its way. */
const LOG_FLUSH_MS = 2000;

/** What an attempt needs of the agent around it. */
export interface AttemptHost {
  readonly node: NodeName;
  readonly plugins: Pick<AttemptPlugins, 'started' | 'ended'>;
  /** As `AttemptFacts` has them. */
  mountsOf(plan: Pick<SavedPlan, 'runner' | 'plan'>): readonly Mount[] | null;
  readonly clock: Clock;
  readonly log: AgentLog;
  /** Aborts when the agent closes. */
  readonly signal: AbortSignal;
  /** Dropped without a connection: the next hello says it all. */
  send(frame: AgentFrame): void;
  isOnline(): boolean;
  /** The attempt is managed no more. */
  release(attempt: Attempt): void;
  /** The directory of an attempt is marked as released. */
  onReleased(dir: string): void;
  /** A write to the state directory: the agent does not let go of the directory before it is done. */
  writing(write: Promise<void>): void;
}

/** One attempt that this agent manages, from its acceptance until the server has its end, its log and what was spooled. */
export class Attempt {
  #plan: SavedPlan;
  readonly #logs: AttemptLogs;
  readonly #spool: SpoolDirectory;
  readonly #host: AttemptHost;

  readonly #life = new AttemptLife();
  readonly #stopping = new AbortController();
  #run: Run | null = null;
  #end: Ended | null = null;
  /** null: nobody has asked for a stop. */
  #stopGraceMs: number | null = null;
  #released: Promise<void> | null = null;

  constructor(
    readonly key: AttemptKey,
    readonly paths: RunPaths,
    plan: SavedPlan,
    logs: AttemptLogs,
    spool: SpoolDirectory,
    host: AttemptHost,
  ) {
    this.#plan = plan;
    this.#logs = logs;
    this.#spool = spool;
    this.#host = host;
  }

  get hasEnded(): boolean {
    return this.#life.state === 'ended';
  }

  /** Its working directory while it runs. */
  get runsIn(): string | null {
    return this.#run === null || this.hasEnded ? null : this.#plan.working_dir;
  }

  /** Resolves with false when it is stopped before the server has said `start`: then nothing is to be started. */
  get startAuthorized(): Promise<boolean> {
    return this.#life.startAuthorized;
  }

  /** Aborts when somebody wants it stopped. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Resolves when nothing is under way: it waits for `start`, or runs, or has ended. */
  get settled(): Promise<void> {
    return this.#life.settled;
  }

  /** Resolves when it is managed no more; null while the server has not said `forget`. */
  get released(): Promise<void> | null {
    return this.#released;
  }

  /** Its directory is durable, with that plan: from here on it is ours, and waits for `start`. */
  accept(plan: SavedPlan): void {
    this.#plan = plan;
    this.#sendAccepted();
    this.#life.move('prepared');
  }

  /** The server wants it started here. */
  authorizeStart(): void {
    this.#life.move('authorized');
  }

  /** The server asked for it again: says once more how far it is. */
  repeat(): void {
    const { repeated } = this.#life.facts;
    if (repeated === 'accepted') this.#sendAccepted();
    if (repeated === 'report') this.#sendReport();
  }

  /** What the server is told of it. */
  report(): AttemptReport {
    const run = this.#run;
    return {
      ...this.key,
      state: this.#life.facts.reported,
      pid: run?.pid ?? null,
      started_at: run?.startedAt ?? null,
      exit: this.#end === null ? null : withoutTime(this.#end),
      finished_at: this.#end?.finished_at ?? null,
    };
  }

  /** An agent that has just started has found it on the disk, without an end. */
  found(): void {
    this.#life.move('found');
  }

  /** Follows a run from its launch to its end; `onFailure` says what a launch that failed means. */
  async follow(launch: Promise<Run>, onFailure: (reason: string) => Exit): Promise<void> {
    this.#logs.watch();
    try {
      this.#run = await launch;
    } catch (error) {
      // An agent that closes says nothing of what it did not carry through: the next one finds out.
      return this.#host.signal.aborted ? undefined : this.end(onFailure(toReason(error)));
    }
    this.#life.move('launched');
    this.#sendReport();
    this.#host.plugins.started({ ...this.facts, pid: this.#run.pid, startedAt: this.#run.startedAt });
    this.#host.log.info('attempt runs', { ...this.key, pid: this.#run.pid });
    const runtimeSaved = this.#saveRuntime(this.#run);
    this.#host.writing(runtimeSaved);
    if (this.#stopGraceMs !== null) this.#stopRun(this.#run, this.#stopGraceMs);
    const exit = await this.#run.exit;
    await runtimeSaved;
    await this.end(exit);
  }

  /** Records how it ended, lets the log go first, and reports. What the runner left in exit.json stands. */
  async end(exit: Exit): Promise<void> {
    const finished_at = this.#host.clock.now();
    const saved = await this.#patiently('cannot read how the attempt ended', () => loadEnd(this.paths));
    const ended = await this.#judge(saved ?? (await this.#saveEnd({ ...exit, finished_at })));
    this.#logs.finalize();
    if (this.#host.isOnline()) await within(this.#logs.sent, LOG_FLUSH_MS);
    this.#settleEnd(ended);
    this.#sendReport();
    this.#host.log.info('attempt ended', { ...this.key, ...withoutTime(ended) });
  }

  /** As it was found on the disk. */
  async restoreEnd(ended: Ended): Promise<void> {
    this.#settleEnd(await this.#judge(ended));
  }

  #settleEnd(ended: Ended): void {
    this.#end = ended;
    this.#logs.finalize();
    this.#spool.finalize();
    this.#life.move('ended');
  }

  stop(graceMs: number = this.#plan.kill_grace_ms): void {
    this.#stopGraceMs = Math.min(graceMs, this.#stopGraceMs ?? Infinity);
    this.#stopping.abort();
    this.#life.move('stopped');
    if (this.#run !== null && !this.hasEnded) this.#stopRun(this.#run, graceMs);
  }

  /** The server has its end, or wants nothing of it: once it has ended and its log and spool are delivered, it is released. */
  forget(): void {
    if (!this.hasEnded) this.stop();
    this.#released ??= this.#release().catch(() => {});
  }

  #sendAccepted(): void {
    this.#host.send({ type: 'accepted', ...this.key });
  }

  #sendReport(): void {
    this.#host.send({ type: 'attempt', ...this.report() });
  }

  async #release(): Promise<void> {
    await this.#life.ended;
    // However long: a server whose disk is full acknowledges nothing, and takes it all once there is room.
    await this.#logs.shipped;
    await this.#spool.delivered;
    if (this.#host.signal.aborted) return;
    await this.#patiently('cannot mark the attempt as released', () => this.#saveReleased());
    this.#logs.close();
    this.#spool.close();
    this.#host.release(this);
    this.#host.onReleased(this.paths.dir);
  }

  /** Must hold: it is still managed, or the mark could come into the directory of a later life of the attempt. */
  async #saveReleased(): Promise<void> {
    const write = saveReleased(this.paths, this.#host.clock.now());
    this.#host.writing(write.catch(() => {}));
    // What could not be prepared, or was removed, has no directory to mark.
    await write.catch(unlessMissing);
  }

  #stopRun(run: Run, graceMs: number): void {
    void run.stop(graceMs).catch((error: unknown) => this.#complain('cannot stop the attempt', error));
  }

  /** What its exit alone does not tell, as the plugins find out. */
  async #judge(ended: Ended): Promise<Ended> {
    const exit = withoutTime(ended);
    const wasStopped = this.#stopGraceMs !== null;
    const judged = await this.#host.plugins.ended(exit, { ...this.facts, wasStopped });
    return judged === exit ? ended : this.#saveEnd({ ...judged, finished_at: ended.finished_at });
  }

  get facts(): AttemptFacts {
    const {
      run_id: runId,
      name,
      runner,
      working_dir: workingDir,
      gpu_indices: gpuIndices,
      notes,
    } = this.#plan;
    const mounts = this.#host.mountsOf(this.#plan);
    return { ...this.key, runId, name, runner, workingDir, gpuIndices, notes, mounts, paths: this.paths };
  }

  async #saveEnd(ended: Ended): Promise<Ended> {
    try {
      // A refused attempt has no directory.
      await writeDurable(this.paths.exit, ended).catch(unlessMissing);
    } catch (error) {
      this.#complain('cannot write how the attempt ended', error);
    }
    return ended;
  }

  async #saveRuntime(run: Run): Promise<void> {
    const { job_id, attempt, run_id, runner, working_dir, gpu_indices } = this.#plan;
    const { command = null } = this.#plan.plan as { command?: readonly string[] | null };
    const { id: node_id, name: node } = this.#host.node;
    const runtime: Runtime = {
      job_id,
      attempt,
      run_id,
      node_id,
      node,
      runner,
      pid: run.pid,
      command,
      working_dir,
      gpu_indices,
      started_at: run.startedAt,
    };
    await writeAtomic(this.paths.runtime, runtime).catch((error: unknown) =>
      this.#complain('cannot write runtime.json', error),
    );
  }

  /** For what must be known or done, whatever the disk is like at the moment. */
  #patiently<T>(message: string, task: () => Promise<T>): Promise<T> {
    return retry(task, {
      isWanted: () => !this.#host.signal.aborted,
      onFailure: (error) => this.#complain(message, error),
    });
  }

  #complain(message: string, error: unknown): void {
    this.#host.log.error(message, { ...this.key, reason: toReason(error) });
  }
}
