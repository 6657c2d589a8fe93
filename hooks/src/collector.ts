import { failBoot } from './boot-error.js';

/** Write-only: a plugin adds its own entries and cannot see those of others. */
export interface Collector<T extends { readonly name: string }> {
  /** Refuses a second entry of the same name; the error names both plugins. */
  add(entry: T): void;
}

/** What was collected, by name, in plugin order. Complete from `ready` on. */
export type Collected<T> = ReadonlyMap<string, T>;

/** Entries by key, each with the plugin that added it. */
export class Collection<T> {
  readonly #entries = new Map<string, { readonly plugin: string; readonly entry: T }>();
  #isFrozen = false;

  constructor(private readonly kind: string) {}

  add(plugin: string, key: string, entry: T): void {
    const first = this.#entries.get(key)?.plugin;
    const what = `${this.kind} "${key}" of plugin "${plugin}"`;
    if (this.#isFrozen) failBoot(`${what} comes after the boot`, plugin);
    if (first !== undefined) failBoot(`${what} is already added by "${first}"`, plugin);
    this.#entries.set(key, { plugin, entry });
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.entry;
  }

  get entries() {
    return [...this.#entries.values()];
  }

  freeze(): Collected<T> {
    this.#isFrozen = true;
    return new Map([...this.#entries].map(([key, { entry }]) => [key, entry]));
  }
}
