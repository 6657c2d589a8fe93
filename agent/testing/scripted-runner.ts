import type { Exit } from '@svc/contract';
import type { Run, RunContext, RunnerAgent, Saved } from '../src/core/runner.js';

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

  constructor() {
    let open = () => {};
    this.#gate = new Promise((resolve) => (open = resolve));
    this.letStart = open;
  }

  async probe() {
    return { available: true, reason: null, version: '1.2.3' };
  }

  async start(plan: Script, ctx: RunContext<Script>): Promise<Run> {
    this.starts += 1;
    this.environments.push(ctx.env);
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
  return { pid: null, startedAt, exit, signal: async () => {}, stop, destroy: stop };
}
