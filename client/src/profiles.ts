/** For programs in Node.js: the servers that a user has logged in to, in one file for CLI, agent and SDKs. */
import { readFileSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface Profile {
  /** As `toAddress` gives it. */
  readonly url: string;
  readonly token: string;
}

export interface Profiles {
  /** The name of the profile that is used when no server is named. */
  readonly current: string | null;
  readonly byName: ReadonlyMap<string, Profile>;
}

/** A profile that is not there, or a file of profiles that cannot be used. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError';
}

const NONE: Profiles = { current: null, byName: new Map() };
const OF_OTHERS = 0o077;

/** `$XDG_CONFIG_HOME/svc/profiles.json`; without an absolute XDG_CONFIG_HOME it is below ~/.config. */
export function toProfilesFile(env: NodeJS.ProcessEnv = process.env): string {
  const given = env['XDG_CONFIG_HOME'] ?? '';
  const configHome = path.isAbsolute(given) ? given : path.join(os.homedir(), '.config');
  return path.join(configHome, 'svc', 'profiles.json');
}

/** No profiles when there is no file. Throws ProfileError when the file cannot be used. */
export function readProfiles(file: string): Profiles {
  const text = readIfThere(file);
  if (text === null) return NONE;
  try {
    const { current, profiles } = JSON.parse(text) as { current: unknown; profiles: object };
    const byName = new Map(Object.entries(profiles).map(([name, profile]) => [name, toProfile(profile)]));
    return { current: typeof current === 'string' ? current : null, byName };
  } catch (cause) {
    throw new ProfileError(`${file} does not hold profiles: remove it, and log in again`, { cause });
  }
}

/** Whether users other than the owner may read or change the file. */
export function isOpenToOthers(file: string): boolean {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & OF_OTHERS) !== 0;
}

/** The address as one spelling, without a slash at the end; null for what is no address of a server. */
export function toAddress(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, origin, pathname } = new URL(url);
  return ['http:', 'https:'].includes(protocol) ? origin + pathname.replace(/\/+$/, '') : null;
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new ProfileError(`the profiles cannot be read: ${message}`, { cause: error });
  }
}

function toProfile(value: unknown): Profile {
  const { url, token } = value as Partial<Profile>;
  if (typeof url === 'string' && typeof token === 'string' && token !== '') return { url, token };
  throw new TypeError('a profile has url and token');
}
