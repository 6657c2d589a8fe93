import type { SpoolRecord } from '@svc/contract';
import { SPOOL_END } from '@svc/contract/protocol';
import { constants } from 'node:fs';
import { lstat, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncDir } from '../core/durable-file.js';
import type { RunPaths } from '../core/run-paths.js';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Puts records for the server into the spool of an attempt, as its processes do: a file of their own, which is removed once they are delivered.
 * `owner` is the plugin's name. Resolves when they are on the disk. After an error there are none, of which some may be delivered all the same: repeat them.
 */
export async function leaveInSpool(
  { spool }: Pick<RunPaths, 'spool'>,
  owner: string,
  records: readonly SpoolRecord[],
): Promise<void> {
  const at = path.join(spool, `${owner}.${nextNumber()}.jsonl`);
  const file = await open(at, NEW_FILE, 0o600);
  try {
    // With `--run-as` the directory is the job's user's, and the shipper reads no files of others in it.
    const { uid, gid } = await lstat(spool);
    if (uid !== process.getuid?.()) await file.chown(uid, gid);
    // One by one: many at once would be a text of many times their size.
    for (const record of records) await file.appendFile(`${JSON.stringify(record)}\n`);
    await file.appendFile(`${SPOOL_END}\n`);
    await file.datasync();
  } catch (error) {
    // Must hold: no file without its end stays, as it would wait there for more, and a full disk would leave one at each try.
    await rm(at, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await syncDir(spool);
}

/** How many files of records that this plugin left are not delivered. */
export async function countInSpool({ spool }: Pick<RunPaths, 'spool'>, owner: string): Promise<number> {
  return (await readdir(spool)).filter((name) => name.startsWith(`${owner}.`)).length;
}

let last = 0;

/** Names sort by the time at which they were made, also over a restart of the agent. */
function nextNumber(): string {
  last = Math.max(last + 1, Date.now() * 1000);
  return String(last).padStart(17, '0');
}
