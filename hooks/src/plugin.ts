import type { Static, TObject } from 'typebox';
import { failBoot } from './boot-error.js';
import { toFactoryName } from './plugin-graph.js';

/** The definition of a plugin of the server or of the agent. `Ctx` is the context that `setup` gets. */
export interface PluginDefinition<Ctx, Options extends TObject = TObject> {
  /** Folder name = plugin name, kebab-case. */
  readonly name: string;
  /** Plugins that must be in the configuration and are set up before this one. */
  readonly requires?: readonly string[];
  /** Plugins that are set up before this one if they are in the configuration. */
  readonly uses?: readonly string[];
  readonly options?: Options;
  setup(ctx: Ctx, options: Static<Options>): void | Promise<void>;
}

/** A plugin with the options that its configuration gave it; they are checked at boot. */
export interface Plugin<Ctx> {
  readonly name: string;
  readonly requires: readonly string[];
  readonly uses: readonly string[];
  readonly optionsSchema: TObject;
  readonly options: Readonly<Record<string, unknown>>;
  setup(ctx: Ctx, options: never): void | Promise<void>;
}

export type PluginFactory<Ctx, Options extends TObject = TObject> = (
  options?: Partial<Static<Options>>,
) => Plugin<Ctx>;

const NO_OPTIONS = {
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: false,
} as unknown as TObject;

export function toPluginFactory<Ctx, Options extends TObject>(
  definition: PluginDefinition<Ctx, Options>,
): PluginFactory<Ctx, Options> {
  const { name, requires = [], uses = [], options: optionsSchema = NO_OPTIONS, setup } = definition;
  const plugin = { name, requires, uses, optionsSchema, setup };
  const factory: PluginFactory<Ctx, Options> = (options = {}) => ({ ...plugin, options });
  // The error for a configuration that lists the factory instead of calling it uses this name.
  return Object.defineProperty(factory, 'name', { value: name });
}

/** Refuses what is no plugin, or one that another version of svc has made. `maker`: what makes one, as `definePlugin`. */
export function checkPlugins(configured: readonly unknown[], maker: string): void {
  for (const [index, plugin] of configured.entries()) {
    const place = `plugins[${index}]`;
    const { name, requires, uses, optionsSchema, options, setup } = (plugin ?? {}) as Partial<Plugin<never>>;
    if (typeof plugin === 'function')
      failBoot(`${place} is a factory: call it, as in ${toFactoryName(plugin.name)}()`, [
        plugin.name,
        'plugins',
      ]);
    if (!name || !setup) failBoot(`${place} is no plugin: make it with ${maker}`, 'plugins');
    if (!requires || !uses || !optionsSchema || !options)
      failBoot(
        `plugin "${name}" was made by another version of svc: make it with ${maker} of this one`,
        name,
      );
  }
}

/** The plugin's options with their defaults; refuses what its schema does not allow. */
export async function checkOptions({
  name,
  optionsSchema,
  options,
}: Pick<Plugin<never>, 'name' | 'optionsSchema' | 'options'>): Promise<Record<string, unknown>> {
  const complete = structuredClone(options);
  // Imported below: where the configuration gives no options, the validator need not be loaded.
  const defaults = toDefaults(optionsSchema);
  if (Object.keys(options).length === 0 && defaults) return defaults;
  const { compileCheck } = await import('@svc/validation');
  const [issue] = compileCheck({ ...optionsSchema, additionalProperties: false })(complete);
  if (!issue) return complete;
  const key = issue.path.split(/[.[]/)[0] ?? '';
  return failBoot(`plugin "${name}", option ${issue.path}: ${issue.message}`, [key, name]);
}

/** The options of a plugin that is given none; null when that is for the validator to say. */
function toDefaults({ properties, required }: TObject): Record<string, unknown> | null {
  const defaults: Record<string, unknown> = {};
  const schemas = Object.entries(properties) as [string, { default?: unknown; properties?: unknown }][];
  for (const [key, schema] of schemas) {
    const isLeftOut = !('default' in schema);
    if (schema.properties || (isLeftOut && (required as readonly string[] | undefined)?.includes(key)))
      return null;
    if (!isLeftOut) defaults[key] = structuredClone(schema.default);
  }
  return defaults;
}
