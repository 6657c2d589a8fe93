import { toReason, type RecoverContext, type Run } from '@svc/agent';
import { EXIT_FILE, type Ended } from '@svc/agent/attempt-end';
import { writeDurable } from '@svc/agent/durable-file';
import { retry } from '@svc/agent/retry';
import { within } from '@svc/agent/within';
import type { Exit } from '@svc/contract';
import type { Container, ContainerInspectInfo } from 'dockerode';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { toContainerExit } from './container-exit.js';
import { ContainerLog, type LogMarks } from './container-log.js';
import { isRefusal, type Engine } from './engine.js';

const RETRY_MS = 500;
const STOP_POLL_MS = 20;
/** Each is a sync of the disk. */
const SAVE_MS = 5000;
/** The report of an end waits so long for the removal of its container, which is then tried again without it. */
const REMOVAL_MS = 5000;
const RUNNING = new Set(['running', 'paused', 'restarting']);

/** What `recover` needs. Saved before the start, and again as the log is copied. */
export interface ContainerState {
  readonly container_id: string;
  /** Milliseconds since the Unix epoch. */
  readonly started_at: number;
  /** That in which it was last seen running (`Engine.life`). */
  readonly engine_life: string;
  readonly log: LogMarks;
}

/** Follows a container from its start, or from where an earlier agent left it, until its log and its end are in the attempt's files and it is removed. */
export class ContainerRun implements Run {
  /** Resolves when the engine has said once what it knows of the container. */
  readonly begun: Promise<void>;
  readonly exit: Promise<Exit>;
  readonly #engine: Engine;
  readonly #ctx: RecoverContext<ContainerState>;
  readonly #log: ContainerLog;
  readonly #ended: Promise<ContainerInspectInfo | null>;
  #begin: () => void = () => {};
  #state: ContainerState;
  #pid: number | null = null;
  #hasEnded = false;
  #killAt = Infinity;
  #stopping: Promise<void> | null = null;
  #savedAt = 0;
  #saving: Promise<void> = Promise.resolve();
  #complaint = '';

  constructor(engine: Engine, state: ContainerState, ctx: RecoverContext<ContainerState>) {
    this.#engine = engine;
    this.#state = state;
    this.#ctx = ctx;
    this.#log = new ContainerLog(ctx.paths, state.log);
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    this.#ended = this.#untilEnded();
    this.exit = new Promise((resolve) => {
      this.#follow().then(resolve, (error: unknown) => {
        if (!ctx.signal.aborted) this.#complain('a container is not followed any more', error);
      });
    });
  }

  get pid(): number | null {
    return this.#pid;
  }

  get startedAt(): number {
    return this.#state.started_at;
  }

  async stop(graceMs: number): Promise<void> {
    this.#killAt = Math.min(this.#killAt, performance.now() + graceMs);
    this.#stopping ??= this.#terminate().catch((error: unknown) => {
      this.#stopping = null;
      throw error;
    });
    await this.#stopping;
  }

  /** The init of the container passes a signal on to the process group of the command. SIGKILL ends all of its processes. A stopped process gets SIGCONT too, or it could not act. */
  async #terminate(): Promise<void> {
    await this.#signal('SIGTERM');
    await this.#signal('SIGCONT');
    while (!this.#hasEnded && performance.now() < this.#killAt) {
      if (this.#ctx.signal.aborted) return;
      await delay(STOP_POLL_MS);
    }
    await this.#signal('SIGKILL');
    await this.#ended;
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    if (!this.#hasEnded) await this.#ask((container) => container.kill({ signal }));
  }

  async #follow(): Promise<Exit> {
    const following = new AbortController();
    const copied = this.#followLog(AbortSignal.any([following.signal, this.#ctx.signal]));
    const info = await this.#ended;
    following.abort();
    await copied;
    await this.#patiently('cannot copy the log of a container', () => this.#copyLog(this.#ctx.signal));
    const disturbance = info === null ? null : await this.#findDisturbance();
    const exit = toContainerExit(info, { wasStopped: this.#killAt < Infinity, disturbance });
    await this.#patiently('cannot write how a container ended', () => this.#saveEnd(exit, info));
    await within(this.#remove(), REMOVAL_MS);
    this.#ctx.signal.throwIfAborted();
    return exit;
  }

  /** What the engine says of the container when it does not run any more; null: it has no such container. Waits for an engine that is away. */
  async #untilEnded(): Promise<ContainerInspectInfo | null> {
    for (;;) {
      const info = await this.#ask((container) => container.inspect());
      if (info !== null) await this.#note(info);
      this.#hasEnded = info === null || !RUNNING.has(info.State.Status);
      this.#begin();
      if (this.#hasEnded) return info;
      await this.#wait();
    }
  }

  /** Until the container ends, or the engine goes away. */
  async #wait(): Promise<void> {
    const { signal } = this.#ctx;
    try {
      await this.#engine.untilStopped(this.#state.container_id, signal);
    } catch {
      await delay(RETRY_MS, undefined, { signal, ref: false });
    }
  }

  async #note({ State: { Status, Pid, StartedAt } }: ContainerInspectInfo): Promise<void> {
    const started_at = Date.parse(StartedAt);
    if (started_at > 0) this.#state = { ...this.#state, started_at };
    if (!RUNNING.has(Status)) return;
    this.#pid = Pid > 0 ? Pid : null;
    const engine_life = await this.#findEngineLife();
    if (engine_life === this.#state.engine_life) return;
    this.#state = { ...this.#state, engine_life };
    await this.#save();
  }

  #findEngineLife(): Promise<string> {
    return this.#engine.untilAnswered(() => this.#engine.life(), this.#ctx.signal);
  }

  /** Why the container may have been ended by something else than its job; null: by nothing. */
  async #findDisturbance(): Promise<string | null> {
    const [before, now] = [this.#state.engine_life, await this.#findEngineLife()];
    if (now === before) return null;
    const [boot = ''] = before.split(' ');
    return now.startsWith(boot)
      ? 'the container engine was stopped or restarted, which ends its containers'
      : 'host rebooted';
  }

  /** Copies as it comes, whatever becomes of the engine, until the signal aborts. */
  async #followLog(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#copyLog(signal).catch((error: unknown) => {
        if (!signal.aborted) this.#complain('the log of a container stands still', error);
      });
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #copyLog(signal: AbortSignal): Promise<void> {
    try {
      await this.#log.copy(await this.#container(), signal, () => this.#saveSometimes());
    } catch (error) {
      // It was removed, or the engine keeps no log of it: there is none to be had.
      if (!isRefusal(error)) throw error;
    }
  }

  /** Must hold: what is saved of the log is in its files. A save that fails costs nothing: from an older mark more is read again. */
  #saveSometimes(): void {
    if (performance.now() - this.#savedAt < SAVE_MS) return;
    this.#savedAt = performance.now();
    void this.#save().catch((error: unknown) =>
      this.#complain('the state of a container cannot be saved', error),
    );
  }

  /** One after the other, as they write the same file. */
  #save(): Promise<void> {
    const save = () => this.#ctx.save({ ...this.#state, log: this.#log.marks });
    this.#saving = this.#saving.then(save, save);
    return this.#saving;
  }

  async #saveEnd(exit: Exit, info: ContainerInspectInfo | null): Promise<void> {
    const told = Date.parse(info?.State.FinishedAt ?? '');
    // The engine notes the start of a short command after its end.
    const finished_at = told > 0 ? Math.max(told, this.startedAt) : this.#ctx.clock.now();
    const ended: Ended = { ...exit, finished_at };
    await writeDurable(path.join(this.#ctx.paths.dir, EXIT_FILE), ended);
  }

  /** Must hold: its log and its end are in the attempt's files. */
  async #remove(): Promise<void> {
    await this.#ask((container) => container.remove({ force: true, v: true }));
  }

  async #container(): Promise<Container> {
    return (await this.#engine.client()).getContainer(this.#state.container_id);
  }

  /** null: it cannot be done, as there is no such container, or it does not run. Waits for an engine that is away. */
  async #ask<T>(question: (container: Container) => Promise<T>): Promise<T | null> {
    const container = await this.#container();
    try {
      return await this.#engine.untilAnswered(() => question(container), this.#ctx.signal);
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  #patiently(message: string, task: () => Promise<void>): Promise<void> {
    return retry(task, {
      isWanted: () => !this.#ctx.signal.aborted,
      onFailure: (error) => this.#complain(message, error),
    });
  }

  /** Once for each reason in a row. */
  #complain(message: string, error: unknown): void {
    const { job_id, attempt, log, signal } = this.#ctx;
    const reason = toReason(error);
    if (this.#complaint === reason || signal.aborted) return;
    this.#complaint = reason;
    log.warn(message, { job_id, attempt, reason });
  }
}
