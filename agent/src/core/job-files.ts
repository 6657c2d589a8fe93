import type { Dirent, Stats } from 'node:fs';
import { lstat, opendir, realpath } from 'node:fs/promises';
import path from 'node:path';

/** What no training writes its results into: it can be large, and is passed over. Nor is a folder whose name begins with a dot entered. */
const PASSED_OVER = new Set([
  'node_modules',
  'venv',
  'env',
  'site-packages',
  'dist-packages',
  '__pycache__',
  'wandb',
  'mlruns',
]);

export interface WalkLimits {
  /** Folders below a root: its own entries are at depth 1. */
  readonly depth: number;
  /** Entries of all folders together. */
  readonly entries: number;
}

export const WALK_LIMITS: WalkLimits = { depth: 8, entries: 50_000 };

export interface FoundFile {
  readonly path: string;
  /** The root below which it lies. */
  readonly root: string;
  readonly stats: Stats;
}

export interface Walked {
  /** Milliseconds since the Unix epoch. What was made later may be missing, also where something newer was found. */
  readonly begunAt: number;
  readonly found: readonly FoundFile[];
  /** Folders that were looked into. */
  readonly folders: readonly string[];
  /** A limit was reached: there may be more. */
  readonly isCut: boolean;
}

/**
 * Finds files and folders below the roots. `select` decides by the entry whether it is wanted: a folder that is wanted is not entered. Links are
 * not followed, and what cannot be read is left out. `except`: folders that are not entered, such as the agent's own.
 */
export async function walkJobFiles(
  roots: readonly string[],
  select: (entry: Dirent) => boolean,
  { except = [], limits = WALK_LIMITS }: { except?: readonly string[]; limits?: WalkLimits } = {},
): Promise<Walked> {
  const begunAt = Date.now();
  const found: FoundFile[] = [];
  const folders: string[] = [];
  let left = limits.entries;
  let isCut = false;

  async function enter(folder: string, root: string, depth: number): Promise<void> {
    const below: string[] = [];
    folders.push(folder);
    for await (const entry of await opendir(folder)) {
      if (left-- <= 0) return void (isCut = true);
      const at = path.join(folder, entry.name);
      if (select(entry)) {
        const stats = await lstat(at).catch(() => null);
        if (stats) found.push({ path: at, root, stats });
      } else if (entry.isDirectory() && isEntered(entry.name) && !except.includes(at)) below.push(at);
    }
    if (depth >= limits.depth) return void (isCut ||= below.length > 0);
    for (const folder of below.sort()) await enter(folder, root, depth + 1).catch(() => {});
  }

  for (const root of withoutNested(roots)) await enter(root, root, 1).catch(() => {});
  return { begunAt, found, folders, isCut };
}

function isEntered(name: string): boolean {
  return !name.startsWith('.') && !PASSED_OVER.has(name);
}

/** A root below another one is walked with it. */
function withoutNested(roots: readonly string[]): string[] {
  const all = [...new Set(roots.map((root) => path.resolve(root)))];
  return all.filter((root) => !all.some((other) => other !== root && isBelow(root, other)));
}

/** Where these folders really are: a file below has one path then, the one by which a process that works there knows it. */
export async function realPaths(folders: readonly string[]): Promise<string[]> {
  return Promise.all(folders.map((folder) => realpath(folder).catch(() => path.resolve(folder))));
}

export function isBelow(file: string, folder: string): boolean {
  const way = path.relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
