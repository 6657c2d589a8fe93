/** Write-only: a plugin adds its own entries and sees nobody else's. */
export interface Collector<T extends { readonly name: string }> {
  /** Refuses a second entry of one name, naming both plugins. */
  add(entry: T): void;
}

/** What was collected, by name, in plugin order. Complete from `ready` on. */
export type Collected<T> = ReadonlyMap<string, T>;
