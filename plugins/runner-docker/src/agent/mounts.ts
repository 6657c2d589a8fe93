import { DispatchFailed, toReason } from '@svc/agent';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Mount } from '../spec.js';

export interface MountRules {
  readonly allowedMounts: readonly string[];
  /** Of the engine: whoever reaches it is root. */
  readonly socket: string;
  readonly nodeName: string;
  /** The attempt's own. */
  readonly attemptDir: string;
}

/** The mounts of a job with the links of their sources resolved. Throws DispatchFailed for one that the agent does not allow. */
export async function allowMounts(mounts: readonly Mount[], rules: MountRules): Promise<Mount[]> {
  const prefixes = await toReal(rules.allowedMounts);
  const resolved: Mount[] = [];
  for (const { source, target, read_only } of mounts) {
    const real = await resolveSource(source, rules);
    if (!prefixes.some((prefix) => isWithin(prefix, real))) refuseSource(source, real, rules);
    if (isWithin(rules.attemptDir, target))
      throw new DispatchFailed(
        `the mount ${source}:${target} hides files of the job itself: choose another target`,
      );
    resolved.push({ source: real, target, read_only });
  }
  return resolved;
}

/**
 * The working directory that a job names, mounted at the same path. It is a mount as the others, unless the container has no more rights on
 * the host than a process of the job's user: then that one's rights say what it may do there.
 */
export async function allowWorkingDir(dir: string, isConfined: boolean, rules: MountRules): Promise<Mount> {
  const target = path.posix.normalize(dir).replace(/(?<=.)\/$/, '');
  const allowedMounts = isConfined ? ['/'] : rules.allowedMounts;
  const real = await resolveSource(dir, rules);
  if (!(await toReal(allowedMounts)).some((prefix) => isWithin(prefix, real))) refuseSource(dir, real, rules);
  return { source: real, target, read_only: false };
}

/** Makes the files that a job writes to: what is not there cannot be mounted. */
export async function ensureFiles(files: readonly string[]): Promise<void> {
  for (const file of files) await (await open(file, 'a', 0o600)).close();
}

/** `inner` is `outer`, or lies below it. Both are absolute. */
export function isWithin(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return relative !== '..' && !relative.startsWith('../');
}

async function resolveSource(source: string, { nodeName, socket }: MountRules): Promise<string> {
  const real = await realpath(source).catch((error: NodeJS.ErrnoException) => {
    throw new DispatchFailed(
      error.code === 'ENOENT'
        ? `${source} was not found on ${nodeName}, and cannot be mounted`
        : `${source} cannot be mounted on ${nodeName}: ${toReason(error)}`,
    );
  });
  const [realSocket = socket] = await toReal([socket]);
  if (isWithin(real, realSocket))
    throw new DispatchFailed(
      `${source} cannot be mounted: it holds the socket of the engine, and whoever reaches that is root`,
    );
  return real;
}

function refuseSource(source: string, real: string, { allowedMounts, nodeName }: MountRules): never {
  const shown = real === source ? source : `${source} (${real})`;
  const allowed = allowedMounts.length === 0 ? 'none' : allowedMounts.join(', ');
  const line = `runnerDocker({ allowedMounts: ${toList([...allowedMounts, real])} })`;
  throw new DispatchFailed(
    `${shown} cannot be mounted: the agent on ${nodeName} allows containers what lies below: ${allowed}. To allow it, write ${line} in the configuration file of that agent (see docs/runners.md), and restart it; running jobs continue`,
  );
}

function toList(entries: readonly string[]): string {
  return `[${entries.map((entry) => `'${entry}'`).join(', ')}]`;
}

/** A directory that is not there allows nothing yet. */
async function toReal(directories: readonly string[]): Promise<string[]> {
  const found = await Promise.all(directories.map((directory) => realpath(directory).catch(() => null)));
  return found.filter((directory) => directory !== null);
}
