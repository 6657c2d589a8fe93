import { DispatchFailed, toReason, type JobUser } from '@svc/agent';
import { chown, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { unpackTree } from './unpack-tree.js';

/**
 * Puts the tree into `directory`, which is empty. Must hold: it is written elsewhere, where the user of the job cannot reach it, and moved
 * there when it is whole. Otherwise a link that another of this user's jobs makes meanwhile could lead an agent that is root astray.
 */
export async function unpackInto(
  archive: string,
  directory: string,
  user: JobUser | null,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${directory}.partial`;
  const owner = user && { uid: user.uid, gid: user.gid };
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  try {
    await unpackTree(archive, partial, { owner, signal });
  } catch (error) {
    await rm(partial, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
    signal.throwIfAborted();
    throw new DispatchFailed(`its source files cannot be unpacked: ${toReason(error)}`);
  }
  if (owner !== null) await chown(partial, owner.uid, owner.gid);
  await rmdir(directory);
  await rename(partial, directory);
}
