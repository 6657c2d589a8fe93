import {
  bootStep,
  checkOptions,
  checkPlugins,
  collectNamed,
  failBoot,
  HookTable,
  PluginGraph,
  Registration,
  type ArgsOf,
  type Collected,
  type Collector,
  type FiredOf,
  type HookRef,
} from '@svc/hooks';
import { attemptEnded, attemptPrepare, attemptStarted, attemptStarting } from './attempt-hooks.js';
import type { AgentCollector, SlotSource } from './collector.js';
import { toReason, type AgentLog } from './log.js';
import type {
  AgentPlugin,
  AgentPluginContext,
  Channel,
  AgentRegistrations,
  AttemptHookRef,
} from './plugin.js';
import type { RunnerAgent } from './runner.js';

export const CONFIG_FILE = 'svc.agent.config.ts';
/** Who declares and fires the hooks that agent plugins tap. */
const OWNER = 'agent';

/** What every plugin gets of the agent. */
export type AgentAround = Pick<
  AgentPluginContext,
  'node' | 'log' | 'clock' | 'signal' | 'stateDir' | 'download'
>;

export type OpenChannel = (plugin: string, name: string) => Channel;

/** The plugins of an agent, set up: what they have registered, and their hooks. */
export interface AgentKernel {
  readonly runners: Collected<RunnerAgent>;
  readonly collectors: readonly AgentCollector[];
  readonly slotSources: readonly SlotSource[];
  fire<Ref extends AttemptHookRef>(ref: Ref, ...args: ArgsOf<Ref>): Promise<FiredOf<Ref>>;
  close(): Promise<void>;
}

/** Sets the plugins up, each after those that it requires or uses. Throws BootError. */
export async function bootAgent(
  configured: readonly AgentPlugin[],
  around: AgentAround,
  openChannel: OpenChannel,
): Promise<AgentKernel> {
  checkPlugins(configured, 'defineAgentPlugin');
  const graph = new PluginGraph(configured, CONFIG_FILE);
  const table = new HookTable(graph, toHookLog(around.log));
  for (const ref of [attemptPrepare, attemptStarting, attemptStarted, attemptEnded])
    table.declare(OWNER, ref as HookRef<never, unknown, unknown>);
  const hooks: AgentRegistrations = {
    runners: new Registration('runners'),
    collectors: new Registration('collectors'),
    slotSources: new Registration('slotSources'),
  };
  const disposers: { readonly plugin: string; readonly dispose: () => void | Promise<void> }[] = [];
  const close = async () => {
    for (const { plugin, dispose } of disposers.splice(0).reverse()) {
      await Promise.resolve()
        .then(dispose)
        .catch((error: unknown) =>
          around.log.error(`plugin "${plugin}" cannot be closed`, { reason: toReason(error) }),
        );
    }
  };
  try {
    for (const plugin of graph.plugins) {
      const { name } = plugin;
      const ctx: AgentPluginContext = {
        ...around,
        name,
        hooks,
        tap: (ref, run, place) => table.tap(name, ref, run, place),
        channel: (channel) => openChannel(name, channel),
        onClose: (dispose) => void disposers.push({ plugin: name, dispose }),
      };
      const options = await checkOptions(plugin);
      await bootStep(name, 'setup', () => plugin.setup(ctx, options as never));
    }
    table.freeze();
    return {
      runners: collectComplete(hooks.runners, 'runner', ['fingerprint', 'start', 'recover', 'reap']),
      collectors: [...collectNamed(hooks.collectors, 'collector').values()],
      slotSources: [...collectComplete(hooks.slotSources, 'slot source', ['discover']).values()],
      fire: (ref, ...args) => table.fire(OWNER, ref, ...args),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Refuses an entry that lacks what the agent calls, as a plugin of another version of svc may. */
function collectComplete<T extends { readonly name: string }>(
  registration: Registration<Collector<T>>,
  kind: string,
  methods: readonly (keyof T & string)[],
): Collected<T> {
  const collected = collectNamed(registration, kind);
  for (const [name, entry] of collected) {
    const missing = methods.find((method) => typeof entry[method] !== 'function');
    if (missing !== undefined)
      failBoot(`${kind} "${name}" has no ${missing}(), which this version of svc needs: update its plugin`);
  }
  return collected;
}

function toHookLog(log: AgentLog) {
  const toFields = ({ err, ...about }: { err?: unknown }) => ({
    ...about,
    ...(err !== undefined && { reason: toReason(err) }),
  });
  return {
    warn: (about: object, message: string) => log.warn(message, toFields(about)),
    error: (about: object, message: string) => log.error(message, toFields(about)),
  };
}
