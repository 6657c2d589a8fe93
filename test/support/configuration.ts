import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './program.js';

/** The plugins of svc.config.ts, as a configuration elsewhere would list them. */
export const PLUGINS = [
  'auth',
  'projects',
  'events',
  'nodes',
  'jobs',
  'logs',
  'node-metrics',
  'runs',
  'metric-definitions',
  'metrics',
  'checkpoints',
  'spool',
  'service',
  'openapi',
  'runner-process',
] as const;

export function toFactory(plugin: string): string {
  return plugin.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** One import, and one plugin, in each line. */
export function toConfigText(
  plugins: readonly string[] = PLUGINS.map((name) => `${toFactory(name)}()`),
): string {
  return [
    `import { defineConfig } from '@svc/kernel';`,
    ...PLUGINS.map((name) => `import { ${toFactory(name)} } from '@svc/plugin-${name}';`),
    'export default defineConfig({',
    '  plugins: [',
    ...plugins.map((plugin) => `    ${plugin},`),
    '  ],',
    '});',
    '',
  ].join('\n');
}

/** A folder in which svc's packages are installed as a third party has them. */
export function installPackages(dir: string): void {
  const modules = path.join(dir, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const name of ['@svc', '@types', 'typebox']) {
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  }
}

/** Writes svc.config.ts into the folder; answers its path. */
export function writeConfig(dir: string, text: string): string {
  const file = path.join(dir, 'svc.config.ts');
  writeFileSync(file, text);
  return file;
}
