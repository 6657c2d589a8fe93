import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './program.js';

/** A release of the agent in a directory of its own, as it was built, under another version. Answers its program. */
export function installAgent(dir: string, version: string): string {
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(path.join(ROOT, 'cli', part), path.join(dir, part), { recursive: true });
  const built = readdirSync(path.join(dir, 'dist')).filter((name) => name.endsWith('.js'));
  const changed = built.filter((name) => setVersion(path.join(dir, 'dist', name), version));
  if (changed.length !== 1) throw new Error(`the version of the agent stands in ${changed.length} files`);
  return path.join(dir, 'bin', 'svc.mjs');
}

function setVersion(file: string, version: string): boolean {
  const text = readFileSync(file, 'utf8');
  const other = text.replace(/^(var VERSION\w* = )"[\d.]+";$/m, `$1"${version}";`);
  if (other !== text) writeFileSync(file, other);
  return other !== text;
}
