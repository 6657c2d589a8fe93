import { didYouMean } from './did-you-mean.js';
import { failBoot } from './errors.js';
import type { Plugin } from './plugin.js';
import { toFactoryName } from './services.js';
import { compileCheck } from './validation.js';

/** Each plugin after those it requires or comes after; otherwise as configured. */
export function orderPlugins(plugins: readonly Plugin[]): readonly Plugin[] {
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const ordered = new Set<Plugin>();

  function place(plugin: Plugin, path: readonly string[]): void {
    const { name, requires, after } = plugin;
    if (ordered.has(plugin)) return;
    if (byName.get(name) !== plugin)
      failBoot(`plugin "${name}" is there twice; remove one ${toFactoryName(name)}()`, name);
    const circle = path.slice(path.indexOf(name));
    if (path.includes(name)) failBoot(`plugins in a circle: ${[...circle, name].join(' -> ')}`, name);
    for (const missing of requires.filter((needed) => !byName.has(needed))) refuseMissing(plugin, missing);
    for (const earlier of [...requires, ...after].flatMap((needed) => byName.get(needed) ?? [])) {
      place(earlier, [...path, name]);
    }
    ordered.add(plugin);
  }

  function refuseMissing({ name }: Plugin, missing: string): never {
    const guess = didYouMean(missing, [...byName.keys()]);
    const fix = `add ${toFactoryName(missing)}() to plugins`;
    return failBoot(
      `plugin "${name}" requires "${missing}", which is not in svc.config.ts${guess}; ${fix}`,
      name,
    );
  }

  for (const plugin of plugins) place(plugin, []);
  return [...ordered];
}

/** The plugin's options with their defaults; refuses what its schema does not allow. */
export function checkOptions({ name, optionsSchema, options }: Plugin): Record<string, unknown> {
  const complete = structuredClone(options);
  const [issue] = compileCheck({ ...optionsSchema, additionalProperties: false })(complete);
  if (!issue) return complete;
  const key = issue.path.split(/[.[]/)[0] ?? '';
  return failBoot(`plugin "${name}", option ${issue.path}: ${issue.message}`, [key, name]);
}
