import type { AttemptKey, AttemptReport, Exit, FrameOf, ServerFrame, Welcome } from '@svc/contract';
import path from 'node:path';
import type { AttemptAddition, AttemptDraft } from '../core/attempt-hooks.js';
import { writeAtomic, writeDurable } from '../core/durable-file.js';
import type { HostSlot } from '../core/host-slot.js';
import { toReason } from '../core/log.js';
import { toRunPaths, type RunPaths } from '../core/run-paths.js';
import {
  attemptKey,
  type Environment,
  type JobUser,
  type RecoverContext,
  type RunnerAgent,
} from '../core/runner.js';
import { within } from '../core/within.js';
import { toVisibleDevices } from '../host/slots.js';
import type { LogShipper } from '../logs/log-shipper.js';
import type { SpoolShipper } from '../spool/spool-shipper.js';
import type { AttemptPlugins } from './attempt-plugins.js';
import { Attempt, type AttemptHost } from './attempt.js';
import { toHostEnv, toJobEnv } from './environment.js';
import { giveRunDir } from './job-user.js';
import {
  createRunDir,
  loadAttempts,
  removeIfUntouched,
  removeUnlessWritten,
  setAsideRunDir,
  toUnknownPlan,
  type FoundAttempt,
  type SavedPlan,
  type SavedState,
} from './run-dir.js';

type Dispatch = FrameOf<ServerFrame, 'dispatch'>;

/** A runner that cannot tell by then whether a process lives does not hold up the others. */
const RECOVERY_MS = 5000;

export interface SupervisorOptions extends Omit<AttemptHost, 'release' | 'writing' | 'plugins' | 'mountsOf'> {
  readonly plugins: AttemptPlugins;
  readonly stateDir: string;
  readonly bootId: string;
  readonly serverUrl: string;
  readonly token: string;
  /** As whom jobs run; null: as the agent does. */
  readonly jobUser: JobUser | null;
  readonly runners: ReadonlyMap<string, RunnerAgent>;
  /** Of this host, as they are now. */
  readonly slots: () => readonly HostSlot[];
  readonly logs: LogShipper;
  readonly spools: SpoolShipper;
}

/** Manages every attempt of this node: carries out what the server asks, and tells it what became of them. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #attempts = new Map<string, Attempt>();
  readonly #jobsDir: string;
  readonly #host: AttemptHost;
  readonly #writes = new Set<Promise<void>>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#jobsDir = path.join(options.stateDir, 'jobs');
    this.#host = {
      ...options,
      release: (attempt) => void this.#attempts.delete(attemptKey(attempt.key)),
      writing: (write) => this.#track(write),
      mountsOf: ({ runner, plan }) => options.runners.get(runner)?.mounts?.(plan) ?? null,
    };
  }

  /** Takes up again what an agent before this one left on the disk, and kills what nobody manages. */
  async recover(): Promise<void> {
    for (const found of await loadAttempts(this.#jobsDir)) await this.#takeUp(found);
    await this.settle(RECOVERY_MS);
    const running = [...this.#attempts.values()].filter((attempt) => !attempt.hasEnded);
    const keep = new Set(running.map((attempt) => attemptKey(attempt.key)));
    for (const runner of this.#options.runners.values()) await runner.reap(keep, this.#options.node.id);
  }

  /** Waits until no attempt is on its way to the disk or being started, at most so long. */
  async settle(timeoutMs: number): Promise<void> {
    await within(Promise.all([...this.#attempts.values()].map((attempt) => attempt.settled)), timeoutMs);
  }

  isManaged(key: AttemptKey): boolean {
    return this.#attempts.has(attemptKey(key));
  }

  /** Of the attempts that run now. */
  workingDirs(): string[] {
    return [...this.#attempts.values()].flatMap((attempt) => attempt.runsIn ?? []);
  }

  reports(): AttemptReport[] {
    return [...this.#attempts.values()].map((attempt) => attempt.report());
  }

  /** The server's word on each attempt that hello named. */
  welcome({ verdicts, log_positions }: Welcome): void {
    this.#options.logs.resume(log_positions);
    this.#options.spools.resume();
    for (const { verdict, ...key } of verdicts) {
      const attempt = this.#attempts.get(attemptKey(key));
      if (verdict === 'keep') attempt?.authorizeStart();
      if (verdict === 'forget') attempt?.forget();
      if (verdict === 'stop') attempt?.stop();
    }
  }

  carryOut(frame: ServerFrame): void {
    if (frame.type === 'logs_ack') this.#options.logs.ack(frame);
    if (frame.type === 'spool_ack' || frame.type === 'channel_ack') this.#options.spools.ack(frame);
    if (frame.type === 'dispatch') this.#dispatch(frame);
    if (frame.type === 'start') this.#attempts.get(attemptKey(frame))?.authorizeStart();
    if (frame.type === 'stop') this.#stop(frame, frame.grace_ms);
    if (frame.type === 'forget') this.#attempts.get(attemptKey(frame))?.forget();
  }

  /** Resolves when nothing of ours is on its way to the disk. Nothing is started any more: the agent closes. */
  async close(): Promise<void> {
    await this.#options.plugins.close();
    await Promise.all(this.#writes);
  }

  #track(write: Promise<void>): void {
    this.#writes.add(write);
    void write.finally(() => this.#writes.delete(write));
  }

  #dispatch(frame: Dispatch): void {
    const key = { job_id: frame.job_id, attempt: frame.attempt };
    const known = this.#attempts.get(attemptKey(key));
    if (known?.released) return this.#dispatchAfter(known.released, frame);
    if (known !== undefined) return known.repeat();
    const paths = toRunPaths(this.#jobsDir, key);
    const plan = toSavedPlan(frame, paths, this.#options.bootId, this.#options.clock.now());
    const attempt = this.#add(key, paths, plan);
    void this.#begin(frame, attempt, plan).catch((error: unknown) => this.#complain(key, error));
  }

  /** A new life of an attempt that was stopped before it had started: the server has sent it here once more. */
  #dispatchAfter(released: Promise<void>, frame: Dispatch): void {
    void released.then(() => {
      if (!this.#options.signal.aborted) this.#dispatch(frame);
    });
  }

  #add(key: AttemptKey, paths: RunPaths, plan: SavedPlan): Attempt {
    const { logs, spools } = this.#options;
    const attempt = new Attempt(key, paths, plan, logs.add(key, paths), spools.add(key, paths), this.#host);
    this.#attempts.set(attemptKey(key), attempt);
    return attempt;
  }

  async #begin(frame: Dispatch, attempt: Attempt, draft: SavedPlan): Promise<void> {
    const { jobUser, signal, node, runners } = this.#options;
    const { paths } = attempt;
    const refuse = (message: string): Exit => ({ kind: 'dispatch_failed', message });
    let additions: Required<AttemptAddition>;
    try {
      await setAsideRunDir(paths, draft.accepted_at);
      additions = await this.#options.plugins.prepare({
        ...toDraft(frame, draft, paths),
        mounts: this.#host.mountsOf(draft),
      });
    } catch (error) {
      return attempt.end(refuse(`it cannot be prepared on ${node.name}: ${toRefusal(error)}`));
    }
    const plan = { ...draft, notes: additions.notes };
    const { working_dir: workingDir, gpu_indices: gpuIndices } = plan;
    try {
      await createRunDir(paths, plan);
      if (jobUser !== null) await giveRunDir(paths, workingDir, additions.files, jobUser);
    } catch (error) {
      return attempt.end(refuse(`${paths.dir} cannot be made on ${node.name}: ${toReason(error)}`));
    }
    if (signal.aborted) return;
    attempt.accept(plan);
    const runner = runners.get(plan.runner);
    if (runner === undefined)
      return attempt.end(refuse(`runner ${plan.runner} is not part of the agent on ${node.name}`));
    const neverStarted: Exit = {
      kind: 'lost',
      reason: `it was stopped on ${node.name} before it was started`,
    };
    if (!(await attempt.startAuthorized)) return attempt.end(neverStarted);
    if (signal.aborted) return;
    try {
      await this.#bringFiles(attempt, plan);
    } catch (error) {
      if (signal.aborted) return;
      if (!attempt.stopping.aborted)
        return attempt.end(refuse(`it cannot be started on ${node.name}: ${toRefusal(error)}`));
    }
    if (attempt.stopping.aborted) return attempt.end(neverStarted);
    const ctx = {
      ...this.#toContext(runner, attempt),
      jobEnv: this.#toJobEnv(frame, additions, paths),
      hostEnv: toHostEnv({
        inherited: process.env,
        agentToken: this.#options.token,
        user: jobUser,
        workingDir,
      }),
      workingDir,
      gpuIndices,
      gpus: this.#options.slots().filter(({ index }) => gpuIndices.includes(index)),
      user: jobUser,
      files: additions.files,
      reads: additions.reads,
      stopping: attempt.stopping,
    };
    const toExit = (reason: string) => (attempt.stopping.aborted ? neverStarted : refuse(reason));
    await attempt.follow(runner.start(plan.plan, ctx), toExit);
  }

  async #bringFiles(attempt: Attempt, { snapshot }: SavedPlan): Promise<void> {
    const { plugins, jobUser: user } = this.#options;
    const signal = AbortSignal.any([attempt.stopping, this.#options.signal]);
    await plugins.starting({ ...attempt.facts, snapshot, user, signal });
  }

  async #takeUp({ key, paths, plan, state, ended }: FoundAttempt): Promise<void> {
    if (state === null && ended === null && (await this.#removeUnstarted(paths, plan))) return;
    if (plan === null) this.#options.log.warn('the plan of an attempt cannot be read', { file: paths.plan });
    const attempt = this.#add(key, paths, plan ?? toUnknownPlan(key, paths));
    if (ended !== null) return attempt.restoreEnd(ended);
    attempt.found();
    void attempt
      .follow(this.#recoverRun(attempt, state, plan), (reason) => ({ kind: 'lost', reason }))
      .catch((error: unknown) => this.#complain(key, error));
  }

  /**
   * Of an attempt whose runner has saved nothing. In this boot of the host that proves that nothing was started: what lies there was put
   * there for it. After another boot the state may have been lost: a directory in which a job may have written stays.
   */
  #removeUnstarted(paths: RunPaths, plan: SavedPlan | null): Promise<boolean> {
    const isProven = plan !== null && plan.boot_id === this.#options.bootId;
    return isProven ? removeUnlessWritten(paths) : removeIfUntouched(paths);
  }

  async #recoverRun(attempt: Attempt, saved: SavedState | null, plan: SavedPlan | null) {
    if (saved === null && plan?.boot_id === this.#options.bootId)
      throw new Error('its agent ended while it was being started, as during the pull of an image');
    if (saved === null) throw new Error('what was noted of it cannot be read, as after a loss of power');
    const runner = this.#options.runners.get(saved.runner);
    if (runner === undefined) throw new Error(`runner ${saved.runner} is no longer part of the agent`);
    if (saved.boot_id !== this.#options.bootId && !runner.survivesReboot) throw new Error('host rebooted');
    const { state_version: version, state } = saved;
    const run = await runner.recover({ version, state }, this.#toContext(runner, attempt));
    if (run === null) throw new Error('it is gone, and nobody knows how it ended');
    return run;
  }

  #toContext(runner: RunnerAgent, { key, paths }: Attempt): RecoverContext<unknown> {
    const { node, bootId: boot_id, signal, log, clock } = this.#options;
    const write = runner.survivesReboot ? writeDurable : writeAtomic;
    const save = (state: unknown) => {
      const saved: SavedState = { runner: runner.name, state_version: runner.stateVersion, boot_id, state };
      return write(paths.state, saved);
    };
    return { ...key, node, paths, signal, log, clock, save };
  }

  #toJobEnv(frame: Dispatch, { env }: Required<AttemptAddition>, { spool: spoolDir }: RunPaths): Environment {
    const { serverUrl, node, slots } = this.#options;
    const { job_id: jobId, attempt, run_id: runId, gpu_indices: gpuIndices } = frame;
    const given = { ...frame.env, ...env };
    const visibleDevices = toVisibleDevices(slots(), gpuIndices);
    return toJobEnv({ given, serverUrl, nodeId: node.id, jobId, attempt, runId, visibleDevices, spoolDir });
  }

  #stop({ job_id, attempt }: AttemptKey, graceMs: number): void {
    const known = this.#attempts.get(attemptKey({ job_id, attempt }));
    if (known !== undefined) return known.hasEnded ? known.repeat() : known.stop(graceMs);
    const exit: Exit = { kind: 'lost', reason: `node ${this.#options.node.name} has no such attempt` };
    const nothing = { pid: null, started_at: null, finished_at: this.#options.clock.now() };
    this.#options.send({ type: 'attempt', job_id, attempt, state: 'ended', exit, ...nothing });
  }

  #complain(key: AttemptKey, error: unknown): void {
    this.#options.log.error('an attempt cannot be managed', { ...key, reason: toReason(error) });
  }
}

/** What a plugin throws to be read by the user comes without the name of its hook. */
function toRefusal(error: unknown): string {
  const { cause } = error as Error;
  return toReason(cause instanceof Error && cause.name === 'DispatchFailed' ? cause : error);
}

function toSavedPlan(frame: Dispatch, paths: RunPaths, boot_id: string, acceptedAt: number): SavedPlan {
  const { job_id, attempt, run_id, name, runner, plan, snapshot = null, gpu_indices, kill_grace_ms } = frame;
  const working_dir = frame.working_dir ?? paths.work;
  const env_names = Object.keys(frame.env).sort();
  return {
    job_id,
    attempt,
    run_id,
    name,
    runner,
    plan,
    env_names,
    working_dir,
    snapshot,
    gpu_indices,
    kill_grace_ms,
    boot_id,
    notes: {},
    accepted_at: acceptedAt,
  };
}

function toDraft(frame: Dispatch, plan: SavedPlan, paths: RunPaths): Omit<AttemptDraft, 'mounts'> {
  const {
    job_id,
    attempt,
    run_id: runId,
    name,
    runner,
    job_type: jobType,
    env,
    gpu_indices: gpuIndices,
  } = frame;
  return {
    job_id,
    attempt,
    runId,
    name,
    runner,
    jobType,
    env,
    gpuIndices,
    workingDir: plan.working_dir,
    paths,
  };
}
