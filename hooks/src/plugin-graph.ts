import { didYouMean } from '@svc/validation/did-you-mean';
import { failBoot } from './boot-error.js';

export interface OrderedPlugin {
  readonly name: string;
  readonly requires: readonly string[];
  readonly uses: readonly string[];
}

/** The plugins and their dependencies. */
export class PluginGraph<P extends OrderedPlugin = OrderedPlugin> {
  /** Each plugin after those that it requires or uses; otherwise in the configured order. */
  readonly plugins: readonly P[];
  readonly names: readonly string[];
  readonly #byName: ReadonlyMap<string, P>;

  /** Throws for a missing or repeated plugin, and for a cycle. `file`: the configuration, for the message. */
  constructor(
    configured: readonly P[],
    private readonly file = 'svc.config.ts',
  ) {
    this.#byName = new Map(configured.map((plugin) => [plugin.name, plugin]));
    this.names = [...this.#byName.keys()];
    this.plugins = this.#order(configured);
  }

  /**
   * Whether the plugin can use what the owner offers: false when it only `uses` the owner, and that is not configured. Throws when it
   * neither requires nor uses the owner. `what`, as in `uses the service "jobs"`, is for the message.
   */
  reaches(plugin: string, owner: string, what: string): boolean {
    const { requires = [], uses = [] }: Partial<OrderedPlugin> = this.#byName.get(plugin) ?? {};
    if (KERNEL.includes(owner) || KERNEL.includes(plugin) || owner === plugin || requires.includes(owner))
      return true;
    if (uses.includes(owner)) return this.#byName.has(owner);
    return failBoot(
      `plugin "${plugin}" ${what}; add '${owner}' to requires (or to uses) of "${plugin}"`,
      plugin,
    );
  }

  #order(configured: readonly P[]): readonly P[] {
    const ordered = new Set<P>();
    const place = (plugin: P, path: readonly string[]): void => {
      const { name, requires, uses } = plugin;
      if (ordered.has(plugin)) return;
      if (this.#byName.get(name) !== plugin)
        failBoot(`plugin "${name}" is there twice; remove one ${toFactoryName(name)}()`, name);
      const circle = path.slice(path.indexOf(name));
      if (path.includes(name)) failBoot(`plugins in a circle: ${[...circle, name].join(' -> ')}`, name);
      for (const missing of requires.filter((needed) => !this.#byName.has(needed)))
        this.#refuseMissing(plugin, missing);
      for (const earlier of [...requires, ...uses].flatMap((needed) => this.#byName.get(needed) ?? []))
        place(earlier, [...path, name]);
      ordered.add(plugin);
    };
    for (const plugin of configured) place(plugin, []);
    return [...ordered];
  }

  #refuseMissing({ name }: P, missing: string): never {
    const guess = didYouMean(missing, this.names);
    const fix = `add ${toFactoryName(missing)}() to plugins`;
    return failBoot(
      `plugin "${name}" requires "${missing}", which is not in ${this.file}${guess}; ${fix}`,
      name,
    );
  }
}

/** The server's and the agent's own kernel: every plugin may use what it offers, and it may use every plugin. */
const KERNEL = ['kernel', 'agent'];

/** The name of a plugin's factory: `runner-process` is made by `runnerProcess()`. */
export function toFactoryName(plugin: string): string {
  return plugin.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
