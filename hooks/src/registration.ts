import { failBoot, isAnswerable } from './boot-error.js';
import { Collection, type Collected, type Collector } from './collector.js';

/** A hook that is called once, after all setups: each tap adds the entries of its plugin. */
export class Registration<To> {
  readonly #taps: { readonly plugin: string; readonly run: (to: To) => void }[] = [];
  #isOver = false;

  /** A plural noun, as in `routes`. */
  constructor(readonly name: string) {}

  tap(plugin: string, run: (to: To) => void): void {
    if (this.#isOver)
      failBoot(`plugin "${plugin}" taps the hook "${this.name}" after its setup: do it in setup()`, plugin);
    this.#taps.push({ plugin, run });
  }

  /** Calls the taps, each with the collector of its plugin. */
  collect(collectorOf: (plugin: string) => To): void {
    this.#isOver = true;
    for (const { plugin, run } of this.#taps) {
      try {
        run(collectorOf(plugin));
      } catch (error) {
        if (isAnswerable(error)) throw error;
        failBoot(`plugin "${plugin}" failed in hook "${this.name}": ${String(error)}`, plugin, error);
      }
    }
  }
}

/** The entries that the taps add, by name. `kind`, as in `runner`, is for messages. */
export function collectNamed<T extends { readonly name: string }>(
  registration: Registration<Collector<T>>,
  kind: string,
): Collected<T> {
  const collection = new Collection<T>(kind);
  registration.collect((plugin) => ({ add: (entry) => collection.add(plugin, entry.name, entry) }));
  return collection.freeze();
}
