import type { Exit } from '@svc/contract';
import { defineAgentPlugin, type AgentPlugin } from '../src/core/plugin.js';
import type { Probe, Run, RunContext, RunnerAgent, Saved } from '../src/core/runner.js';

/** What a job of the scripted runner does: it is the plan. */
export interface Script {
  /** How it ends; left out: it runs until it is stopped. */
  exit?: Exit;
  /** Rejects the start with that message. */
  refuse?: string;
  /** Holds up the start until `letStart` is called. */
  hold?: boolean;
}

/** A runner without processes, for what the agent does around any runner. */
export class ScriptedRunner implements RunnerAgent<Script, Script> {
  readonly name: string = 'process';
  readonly stateVersion: number = 3;
  survivesReboot = false;
  /** What `recover` was given. */
  readonly recovered: Saved<Script>[] = [];
  readonly reaped: ReadonlySet<string>[] = [];
  /** What each start was given. */
  readonly environments: Readonly<Record<string, string>>[] = [];
  /** What `recover` answers. */
  recovery: 'running' | 'gone' | 'broken' = 'running';
  readonly letStart: () => void;
  /** Ends the last run that was started. */
  endLast: () => void = () => {};
  starts = 0;
  readonly #gate: Promise<void>;
  #probe: Probe = { available: true, reason: null, version: '1.2.3' };
  #tell = () => {};

  constructor() {
    let open = () => {};
    this.#gate = new Promise((resolve) => (open = resolve));
    this.letStart = open;
  }

  async *fingerprint(signal: AbortSignal): AsyncIterable<Probe> {
    signal.addEventListener('abort', () => this.#tell(), { once: true });
    while (!signal.aborted) {
      const changed = new Promise<void>((resolve) => (this.#tell = resolve));
      yield this.#probe;
      await changed;
    }
  }

  /** What it says from now on of whether it can run here. */
  becomes(probe: Partial<Probe>): void {
    this.#probe = { ...this.#probe, ...probe };
    this.#tell();
  }

  async start(plan: Script, ctx: RunContext<Script>): Promise<Run> {
    this.starts += 1;
    this.environments.push({ ...ctx.hostEnv, ...ctx.jobEnv });
    await ctx.save(plan);
    if (plan.hold === true) await this.#gate;
    if (plan.refuse !== undefined) throw new Error(plan.refuse);
    const run = toRun(plan, ctx.clock.now());
    this.endLast = () => void run.stop(0);
    return run;
  }

  async recover(saved: Saved<Script>): Promise<Run | null> {
    this.recovered.push(saved);
    if (this.recovery === 'broken') throw new Error('the engine does not answer');
    return this.recovery === 'gone' ? null : toRun(saved.state, 1000);
  }

  async reap(keep: ReadonlySet<string>): Promise<void> {
    this.reaped.push(keep);
  }
}

function toRun(script: Script, startedAt: number): Run {
  let end: (exit: Exit) => void = () => {};
  const exit = new Promise<Exit>((resolve) => (end = resolve));
  if (script.exit !== undefined) end(script.exit);
  const stop = async () => end({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
  return { pid: null, startedAt, exit, stop };
}

/** A plugin that has that runner and nothing else. */
export function runnerPlugin<Plan, State>(runner: RunnerAgent<Plan, State>): AgentPlugin {
  return defineAgentPlugin({
    name: `runner-${runner.name}`,
    setup: (ctx) => ctx.hooks.runners.tap(ctx.name, (runners) => runners.add(runner as RunnerAgent)),
  })();
}
