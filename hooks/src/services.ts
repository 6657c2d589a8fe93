import { failBoot } from './boot-error.js';
import { Collection } from './collector.js';
import { toFactoryName, type PluginGraph } from './plugin-graph.js';

/** A typed token for what one plugin offers to others. Identity is the name, so two copies of a module agree. */
export interface ServiceRef<T> {
  readonly name: string;
  /** The plugin that provides it. */
  readonly plugin: string;
  /** Carries the type; never set. */
  readonly type?: (service: T) => T;
}

export const serviceRef = <T>(name: string, plugin: string = name): ServiceRef<T> => ({ name, plugin });

/** The services of all plugins. A plugin can use the services of those that it requires or uses. */
export class Services {
  readonly #provided = new Collection<unknown>('service');

  constructor(private readonly graph: PluginGraph) {}

  provide<T>(plugin: string, { name }: ServiceRef<T>, implementation: T): void {
    this.#provided.add(plugin, name, implementation);
  }

  has<T>(plugin: string, ref: ServiceRef<T>): boolean {
    return this.#reaches(plugin, ref) && this.#provided.get(ref.name) !== undefined;
  }

  use<T>(plugin: string, ref: ServiceRef<T>): T {
    const service = this.#reaches(plugin, ref) ? this.#provided.get(ref.name) : undefined;
    if (service !== undefined) return service as T;
    const isThere = this.graph.names.includes(ref.plugin);
    const why = isThere
      ? `which does not provide it yet; call ctx.use later than that`
      : `which is not configured; ask ctx.has first, or add ${toFactoryName(ref.plugin)}() to plugins`;
    return failBoot(`plugin "${plugin}" ${describe(ref)}, ${why}`, plugin);
  }

  #reaches<T>(plugin: string, ref: ServiceRef<T>): boolean {
    return this.graph.reaches(plugin, ref.plugin, describe(ref));
  }
}

function describe({ name, plugin }: Pick<ServiceRef<unknown>, 'name' | 'plugin'>): string {
  return `uses the service "${name}" of "${plugin}"`;
}
