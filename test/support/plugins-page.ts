import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './program.js';

/** The files that docs/plugins.md shows, as they stand there: each block whose first line names one. */
export function readFilesOfPage(): ReadonlyMap<string, string> {
  const page = readFileSync(path.join(ROOT, 'docs', 'plugins.md'), 'utf8');
  const blocks = page.matchAll(/^```\w+\n\/\/ (\S+\.\w+)\n([^]*?)^```/gm);
  return new Map([...blocks].map(([, file = '', text = '']) => [file, text]));
}

export function writeFiles(dir: string, files: ReadonlyMap<string, string>): void {
  for (const [file, text] of files) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
}
