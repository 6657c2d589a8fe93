import { BootError } from '@svc/hooks';
import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { isMissing } from '../core/durable-file.js';
import type { RunPaths } from '../core/run-paths.js';
import type { JobUser } from '../core/runner.js';

/** Others may pass through, and list nothing. */
const PASSAGE = 0o711;

/** The user of that name in the system's user database, LDAP and the like included. Throws BootError. */
export async function findJobUser(name: string): Promise<JobUser> {
  if (process.getuid?.() !== 0)
    throw new BootError('--run-as needs an agent that runs as root: start it as root, or leave --run-as out');
  const { stdout } = await promisify(execFile)('getent', ['passwd', '--', name]).catch(() => {
    throw new BootError(`--run-as ${name}: this host has no such user; make one, as with useradd`);
  });
  const [known = '', , uid, gid, , home = '/'] = stdout.trim().split(':');
  const user = { name: known, uid: Number(uid), gid: Number(gid), home };
  if (user.uid === 0) throw new BootError(`--run-as ${name} is root: name a user of lesser rights`);
  return user;
}

/** Lets the user pass to the directories of jobs, and makes sure that it can. Throws BootError. */
export async function openPassage(stateDir: string, user: JobUser): Promise<void> {
  const jobsDir = path.join(stateDir, 'jobs');
  await mkdir(jobsDir, { recursive: true, mode: PASSAGE });
  if (await hasServer(stateDir))
    throw new BootError(
      `${stateDir} holds the files of a server, to which ${user.name} must not pass: give the agent a directory of its own with --state-dir`,
    );
  for (const dir of [stateDir, jobsDir]) await chmod(dir, PASSAGE);
  const { uid, gid } = user;
  const { status } = spawnSync('test', ['-x', jobsDir], { uid, gid, cwd: '/', stdio: 'ignore' });
  if (status !== 0)
    throw new BootError(
      `${user.name} cannot pass to ${jobsDir}: give the agent a directory that others may pass to, as with --state-dir /var/lib/svc-agent`,
    );
}

async function hasServer(dir: string): Promise<boolean> {
  return stat(path.join(dir, 'server.lock')).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
}

/**
 * Gives the user what its job writes to, `files` too. Must hold: the attempt's directory itself stays ours. In it lie files that we write as root: who
 * owned the directory could put links in their place.
 */
export async function giveRunDir(
  paths: RunPaths,
  workingDir: string,
  files: readonly string[],
  { uid, gid }: JobUser,
): Promise<void> {
  for (const dir of [path.dirname(paths.dir), paths.dir]) await chmod(dir, PASSAGE);
  const dirs = workingDir === paths.work ? [paths.spool, paths.work] : [paths.spool];
  for (const dir of dirs) await chown(dir, uid, gid);
  // The logs too: a program opens its output anew by way of /dev/stdout.
  for (const file of [paths.stdout, paths.stderr, ...files]) await giveFile(file, uid, gid);
}

async function giveFile(file: string, uid: number, gid: number): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.chown(uid, gid);
  } finally {
    await handle.close();
  }
}
