import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  ProfileError,
  readProfiles,
  toProfilesFile,
  type Profile,
  type Profiles,
} from '@svc/client/profiles';
import { Failure } from './failure.js';
import { writePrivateFile } from './write-private-file.js';

/** A change takes milliseconds. */
const LOCK_WAIT_MS = 10_000;

/** The profiles of this user. Throws Failure when their file cannot be used. */
export function loadProfiles(file: string = toProfilesFile()): Profiles {
  return orFail(() => readProfiles(file));
}

/** Saves a profile in place of one of that name, and makes it the current one. */
export async function saveProfile(
  name: string,
  profile: Profile,
  file: string = toProfilesFile(),
): Promise<void> {
  await locked(file, () => {
    const { byName } = loadProfiles(file);
    write(file, { current: name, byName: new Map([...byName, [name, profile]]) });
  });
}

/** Removes a profile, and answers what it was. */
export async function removeProfile(name: string, file: string = toProfilesFile()): Promise<Profile> {
  return locked(file, () => {
    const { current, byName } = loadProfiles(file);
    const profile = requireProfile(byName, name, file);
    const others = new Map([...byName].filter(([other]) => other !== name));
    write(file, { current: current === name ? null : current, byName: others });
    return profile;
  });
}

/** Makes a profile the current one. */
export async function selectProfile(name: string, file: string = toProfilesFile()): Promise<Profile> {
  return locked(file, () => {
    const { byName } = loadProfiles(file);
    const profile = requireProfile(byName, name, file);
    write(file, { current: name, byName });
    return profile;
  });
}

/** Must hold around reading and writing: what two processes change at the same time is all kept. */
async function locked<T>(file: string, work: () => T): Promise<T> {
  // It loads the whole server, which only commands that change a profile should wait for.
  const { lockFile } = await import('@svc/kernel');
  const lock = orFail(() => {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    return lockFile(`${file}.lock`, LOCK_WAIT_MS);
  });
  if (lock === null)
    throw new Failure(`another process has been changing ${file} for ${LOCK_WAIT_MS / 1000} s: try again`);
  try {
    return work();
  } finally {
    lock.release();
  }
}

function requireProfile(byName: Profiles['byName'], name: string, file: string): Profile {
  const profile = byName.get(name);
  if (profile) return profile;
  throw new Failure(`there is no profile "${name}" in ${file}; svc profile list shows those there are`);
}

function write(file: string, { current, byName }: Profiles): void {
  const text = `${JSON.stringify({ current, profiles: Object.fromEntries(byName) }, null, 2)}\n`;
  orFail(() => writePrivateFile(file, text));
}

function orFail<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ProfileError) throw new Failure(error.message, { cause: error });
    throw new Failure(`the profiles cannot be saved: ${(error as Error).message}`, { cause: error });
  }
}
