/** A typed token for what one plugin offers to others. Identity is the name, so two copies of a module agree. */
export interface ServiceRef<T> {
  readonly name: string;
  /** The plugin that provides it: named when it is missing. */
  readonly plugin: string;
  /** Carries the type; never set. */
  readonly type?: (service: T) => T;
}

export function serviceRef<T>(name: string, plugin: string = name): ServiceRef<T> {
  return { name, plugin };
}
