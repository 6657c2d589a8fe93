import { lstat } from 'node:fs/promises';

/**
 * Whether an open file is of another user than the job's, when jobs run as another user than the agent: it came there by a link, and the job may
 * have no right to read it. `jobsOwn`: a directory that belongs to the job's user, in one of ours.
 */
export async function isOfAnother({ uid }: { readonly uid: number }, jobsOwn: string): Promise<boolean> {
  const owner = (await lstat(jobsOwn)).uid;
  return owner !== process.getuid?.() && uid !== owner;
}
