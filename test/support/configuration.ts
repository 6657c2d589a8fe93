import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './program.js';

const SVC_CONFIG = readFileSync(path.join(ROOT, 'svc.config.ts'), 'utf8');
const PLUGIN_LIST = /( {2}plugins: \[\n)([^]*?)( {2}\],\n)/;

/** What svc.config.ts lists, one call of a plugin's factory after the other. */
export const CALLS: readonly string[] =
  PLUGIN_LIST.exec(SVC_CONFIG)?.[2]
    ?.match(/^ {4}\w+\(\)/gm)
    ?.map((call) => call.trim()) ?? [];

/** svc.config.ts with these plugins, one in each line, as a configuration elsewhere would list them. */
export function toConfigText(calls: readonly string[] = CALLS): string {
  const list = calls.map((call) => `    ${call},\n`).join('');
  return SVC_CONFIG.replace(PLUGIN_LIST, (_all, start: string, _list, end: string) => start + list + end);
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
