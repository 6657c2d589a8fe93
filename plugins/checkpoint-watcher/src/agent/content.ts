import type { FileIdentity } from '@svc/agent/attempt-owners';
import { createHash, type Hash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { SHARD_INDEX, UNFINISHED } from './candidates.js';
import { wholenessOf } from './file-formats.js';
import { shardNames } from './shard-index.js';

/** A directory with more is looked at in part. */
const MAX_MEMBERS = 1000;
/** Files and folders that are looked at to find them. */
const MAX_ENTRIES = 5000;
const MAX_DEPTH = 4;
const EDGE_BYTES = 64 * 1024;
const SAMPLES = 16;
const SAMPLE_BYTES = 4 * 1024;
/** Of a directory with more files, the sizes and times of all are part of the fingerprint, and the bytes of these. */
const HASHED_MEMBERS = 32;

interface Member extends FileIdentity {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Its user. */
  readonly uid: number;
}

/** A checkpoint as it is on the disk now. */
export interface Content {
  /** The file or directory that is the checkpoint. */
  readonly path: string;
  readonly members: readonly Member[];
  /** Bytes of all members. */
  readonly size: number;
  /** Of the member that was written last, in ms. */
  readonly modifiedAt: number;
  /** Changes whenever a member does. */
  readonly stamp: string;
}

/** What lies at the path of a candidate: a file, a directory, or the index of a checkpoint in several files, which stands for its folder. null: nothing. */
export async function lookAt(candidate: string): Promise<Content | null> {
  const stats = await lstat(candidate).catch(() => null);
  if (stats === null) return null;
  if (stats.isDirectory()) return toContent(candidate, await membersBelow(candidate));
  if (!stats.isFile()) return null;
  if (!SHARD_INDEX.test(candidate)) return toContent(candidate, [toMember(candidate, stats)]);
  const shards = await shardsOf(candidate);
  return shards && toContent(path.dirname(candidate), [toMember(candidate, stats), ...shards]);
}

function toContent(at: string, members: readonly Member[]): Content | null {
  if (members.length === 0) return null;
  const sorted = members.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return {
    path: at,
    members: sorted,
    size: sorted.reduce((sum, { size }) => sum + size, 0),
    modifiedAt: Math.round(Math.max(...sorted.map(({ mtimeMs }) => mtimeMs))),
    stamp: sorted.map(stampOf).join('\n'),
  };
}

/** That of a checkpoint that is one file. */
export function stampOf({ path: file, size, mtimeMs }: Pick<Member, 'path' | 'size' | 'mtimeMs'>): string {
  return `${file}:${size}:${mtimeMs}`;
}

function toMember(file: string, { size, mtimeMs, uid, dev, ino, birthtimeMs }: Stats): Member {
  return { path: file, size, mtimeMs, uid, dev, ino, birthtimeMs };
}

async function membersBelow(candidate: string): Promise<Member[]> {
  const members: Member[] = [];
  let left = MAX_ENTRIES;

  async function enter(folder: string, depth: number): Promise<void> {
    for await (const entry of await opendir(folder)) {
      if (left-- <= 0 || members.length >= MAX_MEMBERS) return;
      const at = path.join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH) await enter(at, depth + 1).catch(() => {});
      const stats = entry.isFile() ? await lstat(at).catch(() => null) : null;
      if (stats) members.push(toMember(at, stats));
    }
  }

  await enter(candidate, 1).catch(() => {});
  return members;
}

/** The files that an index names; null while one is missing. */
async function shardsOf(index: string): Promise<Member[] | null> {
  const names = await shardNames(index, MAX_MEMBERS);
  if (names === null) return null;
  const shards = await Promise.all(
    names.map(async (name) => {
      const file = path.join(path.dirname(index), name);
      const stats = await lstat(file).catch(() => null);
      return stats?.isFile() ? toMember(file, stats) : null;
    }),
  );
  return shards.every((shard) => shard !== null) ? shards : null;
}

/**
 * Whether nothing is missing, as far as the formats of the members tell. `isSure`: what they do not tell counts as missing; a directory then has the
 * `trainer_state.json` that the Trainer of Hugging Face writes at the end, or an index of its files.
 */
export async function isComplete({ path: at, members }: Content, { isSure = false } = {}): Promise<boolean> {
  const names = new Set(members.map(({ path: member }) => path.relative(at, member)));
  const isFile = names.has('');
  const hasEnd = names.has('trainer_state.json');
  // The Trainer writes the one with the model.
  if (/^checkpoint-\d+$/.test(path.basename(at)) && names.has('training_args.bin') && !hasEnd) return false;
  if (isSure && !isFile && !hasEnd && !members.some(({ path: file }) => SHARD_INDEX.test(file))) return false;
  for (const { path: file } of members) {
    if (UNFINISHED.test(file)) return false;
    if (SHARD_INDEX.test(file) && (await shardsOf(file)) === null) return false;
    const wholeness = await wholenessOf(file);
    if (wholeness === 'cut' || (isSure && isFile && wholeness === 'unknown')) return false;
  }
  return true;
}

/** Of size, time, and of each of some members: its head, its tail and a sample. A large file costs as much as one of 200 KiB. */
export async function fingerprint({ path: root, members, stamp }: Content): Promise<string> {
  const hash = createHash('sha256').update(stamp.replaceAll(`${root}/`, ''));
  for (const member of members.slice(0, HASHED_MEMBERS)) await hashMember(hash, member);
  return `sha256:${hash.digest('hex')}`;
}

async function hashMember(hash: Hash, { path: file, size }: Member): Promise<void> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await hashRange(hash, handle, 0, EDGE_BYTES);
    await hashRange(hash, handle, Math.max(0, size - EDGE_BYTES), EDGE_BYTES);
    for (let sample = 1; sample <= SAMPLES; sample++)
      await hashRange(hash, handle, Math.floor((size * sample) / (SAMPLES + 1)), SAMPLE_BYTES);
  } finally {
    await handle.close();
  }
}

async function hashRange(hash: Hash, handle: FileHandle, from: number, length: number): Promise<void> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
  hash.update(buffer.subarray(0, bytesRead));
}
