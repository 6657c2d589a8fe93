import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SourceTree } from './source-tree.js';

/** A file system may give two changes within so long the same time: then a file could change unseen. */
const BLIND_MS = 100;
const MOST = 50;
/** Another way of packing makes other archives of the same files. */
const FORMAT = 1;

interface Known {
  readonly state: string;
  readonly sha256: string;
}

/** Of trees that were packed before, by their root: packing an unchanged one again would take seconds. */
export class KnownTrees {
  readonly #file: string;

  constructor(cacheDir = process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache')) {
    this.#file = path.join(cacheDir, 'svc', 'snapshots.json');
  }

  /** The SHA-256 of its archive; null when it has changed or was never packed. */
  find(tree: SourceTree): string | null {
    const known = this.#load()[tree.root];
    return known?.state === toState(tree) ? known.sha256 : null;
  }

  /** `readAt`: when the tree was read, in ms since the epoch. What cannot be kept is packed again the next time. */
  keep(tree: SourceTree, sha256: string, readAt: number): void {
    if (tree.files.some(({ changedAt }) => changedAt > readAt - BLIND_MS)) return;
    const { [tree.root]: _before, ...others } = this.#load();
    const all = [...Object.entries(others), [tree.root, { state: toState(tree), sha256 }] as const];
    try {
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      const draft = `${this.#file}.${process.pid}`;
      writeFileSync(draft, JSON.stringify(Object.fromEntries(all.slice(-MOST))), { mode: 0o600 });
      renameSync(draft, this.#file);
    } catch {
      // A home that cannot be written to costs time, and nothing else.
    }
  }

  #load(): Record<string, Known> {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as Record<string, Known>;
    } catch {
      return {};
    }
  }
}

function toState({ files }: SourceTree): string {
  const hash = createHash('sha256').update(String(FORMAT));
  for (const { name, state } of files) hash.update(`\0${name}\0${state}`);
  return hash.digest('hex');
}
