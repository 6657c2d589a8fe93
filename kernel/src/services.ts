import { Collection } from './collector.js';
import { failBoot } from './errors.js';

/** A typed token for what one plugin offers to others. Identity is the name, so two copies of a module agree. */
export interface ServiceRef<T> {
  readonly name: string;
  /** The plugin that provides it: named when it is missing. */
  readonly plugin: string;
  /** Carries the type; never set. */
  readonly type?: (service: T) => T;
}

export const serviceRef = <T>(name: string, plugin: string = name): ServiceRef<T> => ({ name, plugin });

export class Services {
  readonly #provided = new Collection<unknown>('service');

  constructor(private readonly plugins: readonly string[]) {}

  provide<T>(plugin: string, { name }: ServiceRef<T>, implementation: T): void {
    this.#provided.add(plugin, name, implementation);
  }

  has<T>({ name }: ServiceRef<T>): boolean {
    return this.#provided.get(name) !== undefined;
  }

  use<T>(plugin: string, ref: ServiceRef<T>): T {
    if (this.has(ref)) return this.#provided.get(ref.name) as T;
    const need = `plugin "${plugin}" uses the service "${ref.name}" of "${ref.plugin}"`;
    const isThere = this.plugins.includes(ref.plugin);
    if (isThere)
      failBoot(`${need}, not provided yet; add '${ref.plugin}' to requires of "${plugin}"`, plugin);
    return failBoot(
      `${need}, which is not in svc.config.ts; add ${toFactoryName(ref.plugin)}() to plugins`,
      plugin,
    );
  }
}

/** The name of a plugin's factory: `runner-process` is made by `runnerProcess()`. */
export function toFactoryName(plugin: string): string {
  return plugin.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
