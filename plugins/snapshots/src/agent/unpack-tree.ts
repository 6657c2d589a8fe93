import { lchown, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { ReadEntry } from 'tar';
import { feedArchive, isOutside } from '../../worker/feed-archive.mjs';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface UnpackOptions {
  /** null: the user of this process. */
  readonly owner: Owner | null;
  /** Ends the work at once. */
  readonly signal?: AbortSignal;
}

type Link = Pick<ReadEntry, 'path'> & { readonly linkpath: string };

/**
 * Puts the tree into `directory`, which is empty and which nobody else can reach. Must hold: symbolic links may lead anywhere, so they are
 * made last, and nothing is written through one.
 */
export async function unpackTree(
  archive: string,
  directory: string,
  { owner, signal }: UnpackOptions,
): Promise<void> {
  // A process without such work does without the memory of it.
  const { UnpackSync } = await import('tar');
  const links: Link[] = [];
  // The one that does not wait for the disk would begin all files at once, which takes gigabytes where they are many.
  const reader = new UnpackSync({
    cwd: directory,
    strict: true,
    preserveOwner: false,
    ...owner,
    filter(name, read) {
      // Stats only where an archive is packed.
      const entry = read as ReadEntry;
      const isLink = entry.type === 'SymbolicLink';
      if (isLink) links.push({ path: name, linkpath: entry.linkpath ?? '' });
      else narrowMode(entry);
      return !isLink;
    },
  });
  await feedArchive(archive, reader, signal && { signal });
  for (const link of links) await makeParents(directory, link, owner, signal);
  for (const { path: name, linkpath } of links) {
    signal?.throwIfAborted();
    const file = path.join(directory, name);
    await symlink(linkpath, file);
    if (owner !== null) await lchown(file, owner.uid, owner.gid);
  }
}

/** Of the bits of a mode, those that lend rights to others mean nothing in a copy. */
function narrowMode(entry: ReadEntry): void {
  if (entry.mode === undefined) return;
  entry.mode &= entry.type === 'Directory' ? 0o755 : 0o777;
}

/** Before any link is made: a link in the place of a directory then fails, and none is followed. */
async function makeParents(
  directory: string,
  { path: name }: Link,
  owner: Owner | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (isOutside(name)) throw new Error(`"${name}" leads out of the tree`);
  const parents = path.posix.normalize(name).split('/').slice(0, -1);
  let parent = directory;
  for (const part of parents) {
    signal?.throwIfAborted();
    parent = path.join(parent, part);
    const made = await mkdir(parent).then(() => true, unlessThere);
    if (made && owner !== null) await lchown(parent, owner.uid, owner.gid);
  }
}

function unlessThere(error: NodeJS.ErrnoException): false {
  if (error.code !== 'EEXIST') throw error;
  return false;
}
