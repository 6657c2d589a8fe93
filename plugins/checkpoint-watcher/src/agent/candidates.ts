import type { Dirent } from 'node:fs';
import path from 'node:path';
import { progressOf } from './checkpoint-name.js';

/** Of a checkpoint that is saved in several files, its first to last and the list of them. */
const SHARD = /-\d{5}-of-\d{5}\./;
export const SHARD_INDEX = /\.safetensors\.index\.json$/;
/** Written under this name, and then renamed. */
export const UNFINISHED = /\.(tmp|temp|part|partial|incomplete|download)$/i;
/** What belongs to a checkpoint that lies beside it. */
const COMPANION = /^(optimizer|scheduler|scaler|rng_state|training_args)(?![a-z])/;

export const DEFAULT_DIRECTORIES = ['checkpoint-*'];
const EXTENSIONS = 'pt pth ckpt safetensors h5 keras npz msgpack';
export const DEFAULT_FILES = EXTENSIONS.split(' ').map((extension) => `*.${extension}`);

/** Tells by its name what may be a checkpoint. In the patterns `*` stands for any characters. */
export function candidateSelector(
  directories: readonly string[],
  files: readonly string[],
): (entry: Dirent) => boolean {
  const isDirectory = toTest(directories);
  const isFile = toTest(files);
  return (entry) => {
    const { name } = entry;
    if (name.startsWith('.') || UNFINISHED.test(name)) return false;
    if (entry.isDirectory()) return isDirectory(name);
    if (!entry.isFile() || SHARD.test(name) || COMPANION.test(name)) return false;
    return SHARD_INDEX.test(name) || isFile(name);
  };
}

/** Data are often kept as `.npz`: one is likely to be a checkpoint if its name has a step. */
export function isLikely(candidate: string): boolean {
  return !candidate.endsWith('.npz') || progressOf(path.basename(candidate)).step !== undefined;
}

function toTest(patterns: readonly string[]): (name: string) => boolean {
  const all = patterns.map((pattern) => new RegExp(`^${pattern.split('*').map(escape).join('.*')}$`));
  return (name) => all.some((each) => each.test(name));
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
