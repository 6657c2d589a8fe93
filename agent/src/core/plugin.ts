import type { AttemptKey } from '@svc/contract';
import {
  toPluginFactory,
  type Clock,
  type Collector,
  type HookRef,
  type Plugin,
  type PluginDefinition,
  type PluginFactory,
  type Registration,
  type TapPlace,
} from '@svc/hooks';
import type { Readable } from 'node:stream';
import type { TObject } from 'typebox';
import type { attemptEnded, attemptPrepare, attemptStarted, attemptStarting } from './attempt-hooks.js';
import type { AgentCollector, SlotSource } from './collector.js';
import type { AgentLog } from './log.js';
import type { NodeName, RunnerAgent } from './runner.js';

/** Called once, after every setup: each tap adds what its plugin has. */
export interface AgentRegistrations {
  readonly runners: Registration<Collector<RunnerAgent>>;
  readonly collectors: Registration<Collector<AgentCollector>>;
  /** Asked for the GPUs of this host, unless the agent is told to have virtual ones. */
  readonly slotSources: Registration<Collector<SlotSource>>;
}

export type AttemptHookRef =
  typeof attemptPrepare | typeof attemptStarting | typeof attemptStarted | typeof attemptEnded;

/** Messages to the server half of a plugin: none is lost, whoever restarts, and each is handled there at least once. */
export interface Channel {
  /** Resolves when the message (JSON) is on the disk; rejects when the disk does not take it. `attempt`: the one that it is about. */
  send(message: unknown, attempt?: AttemptKey): Promise<void>;
  /** As `send`, and then waits until the server has it: at most that long, and not while the server takes no messages of this channel. */
  deliver(message: unknown, withinMs: number, attempt?: AttemptKey): Promise<void>;
}

export interface AgentPluginContext {
  /** The plugin's. */
  readonly name: string;
  readonly node: NodeName;
  readonly log: AgentLog;
  readonly clock: Clock;
  /** The agent's own directory: a plugin keeps its files in one that has its name. */
  readonly stateDir: string;
  /** Asks the server with the agent's token for what is below /api/v1. Rejects when it does not answer with 200. */
  download(path: `/${string}`, signal: AbortSignal): Promise<Readable>;
  /** Aborts when the agent closes; the attempts go on. */
  readonly signal: AbortSignal;
  readonly hooks: { readonly [K in keyof AgentRegistrations]: Pick<AgentRegistrations[K], 'tap'> };
  /** During setup: `ctx.tap(attemptEnded, (exit, attempt) => ...)`. */
  tap<Args extends readonly unknown[], Returned>(
    ref: HookRef<Args, Returned, unknown>,
    run: NoInfer<(...args: Args) => Returned>,
    place?: TapPlace,
  ): void;
  /** During setup: messages to the server half, which opens a channel of that name too. */
  channel(name: string): Channel;
  /** Last in, first out, when the agent closes. */
  onClose(dispose: () => void | Promise<void>): void;
}

export type AgentPlugin = Plugin<AgentPluginContext>;
export type AgentPluginFactory<Options extends TObject = TObject> = PluginFactory<
  AgentPluginContext,
  Options
>;

/** The agent half of a plugin: `export default defineAgentPlugin({ name, setup(ctx) {...} })`. Its options are a JSON Schema of an object. */
export function defineAgentPlugin<Options extends TObject>(
  definition: PluginDefinition<AgentPluginContext, Options>,
): AgentPluginFactory<Options> {
  return toPluginFactory(definition);
}

export interface AgentConfig {
  readonly plugins: readonly AgentPlugin[];
}

/** For `svc.agent.config.ts`: `export default defineAgentConfig({ plugins: [...] })`. */
export function defineAgentConfig(config: AgentConfig): AgentConfig {
  return config;
}
