import { didYouMean } from '@svc/validation/did-you-mean';
import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  type Hook,
} from 'tapable';
import { failBoot } from './boot-error.js';
import { failingClosed, isolated, type HookLog, type Run } from './guard.js';
import { ownerOf, type AnyRef, type ArgsOf, type FiredOf, type HookKind, type HookRef } from './hook-ref.js';
import type { PluginGraph } from './plugin-graph.js';

/** The position of a tap among those of its hook. By default the taps are in plugin order. */
export interface TapPlace {
  /** Names of plugins. */
  readonly before?: string | readonly string[];
  /** A whole number; taps of a lower one come first. Default 0. */
  readonly stage?: number;
}

/** What the taps of every kind of hook get: the arguments, and the list to which `gather` adds the parts. */
interface Call {
  readonly args: readonly unknown[];
  readonly parts: unknown[];
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- hooks of every signature
type AnyHook = Hook<any, any> & { tapPromise: Hook<any, any>['tap'] };
type Declared = { readonly kind: HookKind; readonly hook: AnyHook };

/** The tapable hook of each kind. A waterfall hook passes its first argument on, so that argument is separate. */
const CREATE: Readonly<Record<HookKind, () => AnyHook>> = {
  series: () => new AsyncSeriesHook<[Call]>(['call']),
  gather: () => new AsyncSeriesHook<[Call]>(['call']),
  firstAnswer: () => new AsyncSeriesBailHook<[Call], unknown>(['call']),
  waterfall: () => new AsyncSeriesWaterfallHook<[unknown, Call]>(['first', 'call']),
  observation: () => new AsyncParallelHook<[Call]>(['call']),
};

/** The hooks of all plugins. The owner declares and fires a hook; plugins that require or use the owner may tap it during setup. */
export class HookTable {
  readonly #declared = new Map<string, Declared>();
  #isFrozen = false;

  constructor(
    private readonly graph: PluginGraph,
    private readonly log: HookLog,
  ) {}

  declare(plugin: string, { name, kind }: AnyRef): void {
    const what = `plugin "${plugin}" declares the hook "${name}"`;
    this.#refuseLate(what, plugin);
    if (ownerOf({ name }) !== plugin)
      failBoot(`${what}, which is of "${ownerOf({ name })}"; a plugin declares its own hooks`, plugin);
    if (this.#declared.has(name)) failBoot(`${what} twice; remove one ctx.declare`, plugin);
    this.#declared.set(name, { kind, hook: CREATE[kind]() });
  }

  /** Does nothing when the plugin only `uses` the owner, and that is not configured. */
  tap<Args extends readonly unknown[], Returned>(
    plugin: string,
    ref: HookRef<Args, Returned, unknown>,
    run: NoInfer<(...args: Args) => Returned>,
    place: TapPlace = {},
  ): void {
    const owner = ownerOf(ref);
    const what = `taps the hook "${ref.name}"`;
    this.#refuseLate(`plugin "${plugin}" ${what}`, plugin);
    if (!this.graph.reaches(plugin, owner, what)) return;
    const declared = this.#declared.get(ref.name);
    if (!declared) {
      const names = [...this.#declared.keys()].filter((name) => ownerOf({ name }) === owner);
      return failBoot(
        `plugin "${plugin}" ${what}, which "${owner}" does not declare${didYouMean(ref.name, names)}`,
        plugin,
      );
    }
    const { hook } = declared;
    const options = { name: plugin, ...this.#place(plugin, ref.name, hook, place) };
    hook.tapPromise(options as { name: string }, this.#guard(declared, run as Run, plugin, ref.name));
  }

  async fire<Ref extends AnyRef>(plugin: string, ref: Ref, ...args: ArgsOf<Ref>): Promise<FiredOf<Ref>> {
    const declared = this.#declared.get(ref.name);
    if (plugin !== ownerOf(ref) || !declared)
      throw new Error(`plugin "${plugin}" cannot fire "${ref.name}": the plugin that declares it does`);
    const call: Call = { args, parts: [] };
    const { kind, hook } = declared;
    const fired: unknown = await (kind === 'waterfall' ? hook.promise(args[0], call) : hook.promise(call));
    return (kind === 'gather' ? call.parts : fired) as FiredOf<Ref>;
  }

  /** From now on nothing can be declared or tapped: plugins do that in setup. */
  freeze(): void {
    this.#isFrozen = true;
  }

  #refuseLate(what: string, plugin: string): void {
    if (this.#isFrozen) failBoot(`${what} after its setup: do it in setup()`, plugin);
  }

  /** tapable puts a tap first if `before` names a plugin without a tap, so such names are removed: later taps come after this one anyway. */
  #place(plugin: string, hookName: string, { taps }: AnyHook, { before = [], stage = 0 }: TapPlace) {
    const where = `plugin "${plugin}", hook "${hookName}"`;
    const { names } = this.graph;
    const others = [before].flat() as string[];
    if (!Number.isInteger(stage)) failBoot(`${where}: stage must be an integer`, plugin);
    const unknown = others.find((other) => !names.includes(other));
    if (unknown !== undefined)
      failBoot(
        `${where}: before names "${unknown}", which is no plugin${didYouMean(unknown, names)}`,
        plugin,
      );
    return { stage, before: others.filter((other) => taps.some(({ name }) => name === other)) };
  }

  #guard(
    { kind }: Declared,
    run: Run,
    plugin: string,
    hook: string,
  ): (...given: never[]) => Promise<unknown> {
    if (kind === 'observation') {
      const observe = isolated(run, plugin, hook, this.log);
      return (call: Call) => observe(...call.args);
    }
    const decide = failingClosed(run, plugin, hook);
    if (kind === 'waterfall') return (first: unknown, call: Call) => decide(first, ...call.args.slice(1));
    return async (call: Call) => {
      const returned = await decide(...call.args);
      if (kind === 'gather' && returned !== undefined) call.parts.push(returned);
      return kind === 'firstAnswer' ? returned : undefined;
    };
  }
}
