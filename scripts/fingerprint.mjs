// What a step was last done for, so that it is done again only when that has changed.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMPS = path.join(ROOT, '.cache', 'stamps');

/** Every file below the folder (relative to the root), sorted; build outputs and dependencies left out. */
export function filesBelow(folder, wanted = () => true) {
  const found = [];
  const visit = (relative) => {
    for (const entry of readdirSync(path.join(ROOT, relative), { withFileTypes: true })) {
      const child = path.posix.join(relative, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules' && entry.name !== 'dist') visit(child);
      else if (entry.isFile() && wanted(child)) found.push(child);
    }
  };
  if (statSync(path.join(ROOT, folder), { throwIfNoEntry: false })?.isDirectory()) visit(folder);
  return found.sort();
}

/** Changes when a file is added, removed or touched. */
export function fingerprintOfFiles(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const { mtimeMs, size } = statSync(path.join(ROOT, file));
    hash.update(`${file}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest('hex');
}

export function fingerprintOfText(...texts) {
  return createHash('sha256').update(texts.join('\0')).digest('hex');
}

export function isStamped(step, fingerprint) {
  try {
    return readFileSync(path.join(STAMPS, step), 'utf8') === fingerprint;
  } catch {
    return false;
  }
}

export function stamp(step, fingerprint) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(path.join(STAMPS, step), fingerprint);
}
