import { didYouMean } from './did-you-mean.js';
import { BootError } from './errors.js';
import type { Plugin } from './plugin.js';
import { toFactoryName } from './services.js';
import { compileCheck } from './validation.js';

/** Each plugin after those it requires or comes after; otherwise as configured. */
export function orderPlugins(plugins: readonly Plugin[]): readonly Plugin[] {
  const byName = indexByName(plugins);
  const ordered = new Set<Plugin>();

  function place(plugin: Plugin, path: readonly string[]): void {
    if (ordered.has(plugin)) return;
    if (path.includes(plugin.name)) {
      const circle = [...path.slice(path.indexOf(plugin.name)), plugin.name].join(' -> ');
      throw new BootError(`plugins come after each other in a circle: ${circle}`, plugin.name);
    }
    for (const name of [...plugin.requires, ...plugin.after]) {
      const needed = byName.get(name);
      if (needed) place(needed, [...path, plugin.name]);
    }
    ordered.add(plugin);
  }

  for (const plugin of plugins) checkRequirements(plugin, [...byName.keys()]);
  for (const plugin of plugins) place(plugin, []);
  return [...ordered];
}

function indexByName(plugins: readonly Plugin[]): Map<string, Plugin> {
  const byName = new Map<string, Plugin>();
  for (const plugin of plugins) {
    if (byName.has(plugin.name)) {
      const call = `${toFactoryName(plugin.name)}()`;
      throw new BootError(
        `plugin "${plugin.name}" is there twice; remove one ${call} from plugins`,
        plugin.name,
      );
    }
    byName.set(plugin.name, plugin);
  }
  return byName;
}

function checkRequirements(plugin: Plugin, names: readonly string[]): void {
  const missing = plugin.requires.find((name) => !names.includes(name));
  if (missing === undefined) return;
  throw new BootError(
    `plugin "${plugin.name}" requires "${missing}", which is not in svc.config.ts` +
      `${didYouMean(missing, names)}; add ${toFactoryName(missing)}() to plugins`,
    plugin.name,
  );
}

/** The plugin's options with their defaults; refuses what its schema does not allow. */
export function checkOptions({ name, optionsSchema, options }: Plugin): Record<string, unknown> {
  const complete = structuredClone(options);
  const [issue] = compileCheck({ ...optionsSchema, additionalProperties: false })(complete);
  if (!issue) return complete;
  const key = issue.path.split(/[.[]/)[0] ?? '';
  throw new BootError(`plugin "${name}", option ${issue.path}: ${issue.message}`, [key, name]);
}
