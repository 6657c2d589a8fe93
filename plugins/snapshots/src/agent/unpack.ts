import type { JobUser } from '@svc/agent';
import { chown, mkdir, rename, rm, rmdir } from 'node:fs/promises';

/**
 * Puts the tree into `directory`, which is empty. Must hold: it is written elsewhere, where the user of the job cannot reach it, and moved
 * there when it is whole. Otherwise a link that another of this user's jobs makes meanwhile could lead an agent that is root astray.
 */
export async function unpackInto(archive: string, directory: string, user: JobUser | null): Promise<void> {
  // An agent without such jobs does without the memory of it.
  const { extract } = await import('tar');
  const partial = `${directory}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  const owner = user !== null && { preserveOwner: true, uid: user.uid, gid: user.gid };
  await extract({ file: archive, cwd: partial, strict: true, ...owner });
  if (user !== null) await chown(partial, user.uid, user.gid);
  await rmdir(directory);
  await rename(partial, directory);
}
