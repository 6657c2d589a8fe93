import { toReason, type RecoverContext, type Run } from '@svc/agent';
import { EXIT_FILE, type Ended } from '@svc/agent/attempt-end';
import { readBootId } from '@svc/agent/boot-id';
import { writeDurable } from '@svc/agent/durable-file';
import type { Exit } from '@svc/contract';
import type { Container, ContainerInspectInfo } from 'dockerode';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { toContainerExit } from './container-exit.js';
import { ContainerLog, type LogMarks } from './container-log.js';
import { isNotFound, isRefusal, toEngineReason, type Engine } from './engine.js';

const RETRY_MS = 500;
const SAVE_MS = 1000;

/** What `recover` needs. Saved before the start, and then as the log is copied. */
export interface ContainerState {
  readonly container_id: string;
  /** Milliseconds since the Unix epoch; null: it was not seen running. */
  readonly started_at: number | null;
  /** In which it was last seen running (`Engine.life`). */
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
  #wasKilled = false;
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
    if (!this.#hasEnded) {
      this.#wasKilled = true;
      await this.#signal('SIGKILL');
    }
    await this.#ended;
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    if (!this.#hasEnded) await this.#ask((container) => container.kill({ signal }).then(() => null));
  }

  async #follow(): Promise<Exit> {
    const following = new AbortController();
    const copied = this.#followLog(AbortSignal.any([following.signal, this.#ctx.signal]));
    const info = await this.#ended;
    following.abort();
    await copied;
    await this.#patiently('its log', () => this.#log.copy(this.#container(), this.#ctx.signal));
    const disturbance = await this.#findDisturbance();
    const exit = toContainerExit(info, { wasKilled: this.#wasKilled, disturbance });
    await this.#patiently('how it ended', () => this.#saveEnd(exit, info));
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
      await (await this.#container()).wait({ abortSignal: signal });
    } catch {
      await delay(RETRY_MS, undefined, { signal, ref: false });
    }
  }

  async #note({ State: { Status, Pid, StartedAt } }: ContainerInspectInfo): Promise<void> {
    const started_at = Date.parse(StartedAt);
    if (started_at > 0) this.#state = { ...this.#state, started_at };
    if (!RUNNING.has(Status)) return;
    this.#pid = Pid > 0 ? Pid : null;
    const engine_life = await this.#engine.untilAnswered(() => this.#engine.life(), this.#ctx.signal);
    if (engine_life === this.#state.engine_life) return;
    this.#state = { ...this.#state, engine_life };
    await this.#save();
  }
