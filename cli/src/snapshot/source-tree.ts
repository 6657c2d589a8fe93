import { isUtf8 } from 'node:buffer';
import { lstatSync, readdirSync, realpathSync, type Dirent, type Stats } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Failure } from '../failure.js';
import { readTarget, toEscaped, toNameFailure } from './file-names.js';
import { IgnoreRules } from './ignore-rules.js';
import { isOfService, isWithinService } from './service-directory.js';
import { holdsToken } from './token-file.js';

/** As many as a server takes. */
const MAX_FILES = 100_000;

export interface SourceFile {
  /** Relative to the root, with slashes. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Changes whenever the content or the mode does. */
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** A rule of its owner says that it is to come along. */
  readonly isWanted: boolean;
}

export interface SourceTree {
  readonly root: string;
  /** In the order of their names: equal trees make equal archives. */
  readonly files: readonly SourceFile[];
  /** Files and directories that stay behind, relative to the root; a directory's name ends with a slash. */
  readonly leftOut: readonly string[];
}

/**
 * Reads the tree without its contents. Directories of svc are never part of it: they hold tokens. Throws Failure for what is no directory
 * of a project, and the error of the system for a directory that cannot be read.
 */
export function readSourceTree(root: string): SourceTree {
  refuseNoProject(root);
  const files: SourceFile[] = [];
  const leftOut: string[] = [];
  const visit = (directory: string, above: IgnoreRules | null): void => {
    const entries = list(`${root}/${directory}`);
    const rules = above?.below(root, directory) ?? IgnoreRules.ofRoot(root);
    for (const { entry, ownName } of entries) {
      const within = directory === '' ? '' : `${directory}/`;
      const name = within + ownName;
      const end = entry.isDirectory() ? '/' : '';
      const verdict = rules.judge(name + end);
      const isLeftOut = verdict === 'ignored' || !isOfSource(entry);
      if (isLeftOut || (entry.isDirectory() && isOfService(`${root}/${name}`)))
        leftOut.push(within + toEscaped(entry.name) + end);
      else if (!isUtf8(entry.name)) throw toNameFailure(root, within, entry.name);
      else if (entry.isDirectory()) visit(name, rules);
      else {
        const file = toFile(root, name, verdict === 'wanted');
        if (entry.isFile() && !file.isWanted && holdsToken(`${root}/${name}`, file.size)) leftOut.push(name);
        else files.push(file);
      }
      if (files.length > MAX_FILES)
        throw new Failure(
          `${root} has more than ${MAX_FILES} files: name the directory of the project, or put what is not source into ${root}/.svcignore`,
        );
    }
  };
  visit('', null);
  return { root, files, leftOut };
}

function refuseNoProject(root: string): void {
  const real = toRealPath(root);
  const what = isIn(real, toRealPath(os.homedir()))
    ? 'is or contains the home directory'
    : real === path.parse(real).root
      ? 'is the whole file system'
      : isWithinService(real) && 'is or lies in a directory of svc';
  if (what) throw new Failure(`${root} ${what}, which holds more than source: name the project's directory`);
}

function isIn(directory: string, other: string): boolean {
  return !path.relative(directory, other).split(path.sep).includes('..');
}

/** As it was given when it is not there. */
function toRealPath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return path.resolve(directory);
  }
}

interface Listed {
  readonly entry: Dirent<Buffer>;
  readonly ownName: string;
}

function list(directory: string): Listed[] {
  const entries = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' });
  const listed = entries.map((entry) => ({ entry, ownName: entry.name.toString() }));
  return listed.sort((a, b) => (a.ownName < b.ownName ? -1 : 1));
}

/** Sockets, pipes and devices are none. */
function isOfSource(entry: Dirent<Buffer>): boolean {
  return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
}

function toFile(root: string, name: string, isWanted: boolean): SourceFile {
  const file = `${root}/${name}`;
  const stats = lstatSync(file);
  const target = stats.isSymbolicLink() ? readTarget(root, name) : '';
  const changedAt = Math.max(stats.ctimeMs, stats.mtimeMs);
  return { name, size: stats.size, state: toState(stats, target), changedAt, isWanted };
}

/** The times have fractions, below a microsecond. */
function toState({ ino, size, mode, mtimeMs, ctimeMs }: Stats, target: string): string {
  return [ino, size, mode, mtimeMs, ctimeMs, target].join(' ');
}
