/** For programs in Node.js: which server is meant, and with which token. docs/configuration.md describes the order. */
import type { Connection } from './client.js';
import { loadLocalServer, loadToken, toDataDir, type LocalServer } from './local-server.js';
import {
  ProfileError,
  isOpenToOthers,
  readProfiles,
  toAddress,
  toProfilesFile,
  type Profile,
  type Profiles,
} from './profiles.js';

/** What the options of a command say. */
export interface NamedServer {
  readonly url?: string;
  readonly token?: string;
  readonly profile?: string;
  readonly dataDir?: string;
}

/** What there is to choose from. The file of profiles is read once it is needed, and not in a job. */
interface Sources {
  readonly env: (name: string) => string | undefined;
  readonly profiles: () => Profiles;
  readonly profilesFile: string;
  readonly dataDir: string;
  readonly local: LocalServer | null;
}

/** An address, and the token that belongs to it where it was found. */
interface Server {
  readonly url: string;
  readonly token: string | null;
}

/**
 * The address and the token; null when no server was named and none runs here. Throws ProfileError for a named profile that is not there;
 * `warn` is told of a file of profiles that cannot be used or is open to others.
 * Must hold: a token of a profile, of a data directory, or beside SVC_URL is sent to the address that it is for, and to no other.
 */
export function findConnection(
  named: NamedServer,
  env: NodeJS.ProcessEnv = process.env,
  warn: (message: string) => void = () => undefined,
): Connection | null {
  const sources = toSources(named, env, warn);
  const byOption = isNamed(named);
  const server = byOption ? findByOption(named, sources) : findWithoutOption(sources);
  if (server === null) return null;
  const token =
    named.token ??
    (byOption ? server.token : null) ??
    findTokenInEnvironment(server.url, sources) ??
    server.token ??
    findSavedToken(server.url, sources);
  return { url: server.url.replace(/\/+$/, ''), token };
}

function toSources(named: NamedServer, env: NodeJS.ProcessEnv, warn: (message: string) => void): Sources {
  const profilesFile = toProfilesFile(env);
  const dataDir = toDataDir(named.dataDir, env);
  let profiles: Profiles | undefined;
  return {
    env: (name) => env[name]?.trim() || undefined,
    profiles: () => (profiles ??= loadProfiles(profilesFile, warn)),
    profilesFile,
    dataDir,
    local: loadLocalServer(dataDir),
  };
}

function isNamed({ url, profile, dataDir }: NamedServer): boolean {
  return [url, profile, dataDir].some((option) => option !== undefined);
}

function findByOption({ url, profile }: NamedServer, sources: Sources): Server | null {
  if (url !== undefined) return { url, token: null };
  return profile === undefined ? findLocal(sources) : requireProfile(profile, sources);
}

function findWithoutOption(sources: Sources): Server | null {
  const { env, profiles } = sources;
  const url = env('SVC_URL');
  if (url !== undefined) return { url, token: null };
  const profile = env('SVC_PROFILE');
  if (profile !== undefined) return requireProfile(profile, sources);
  if (env('SVC_DATA_DIR') !== undefined) return findLocal(sources);
  const { current, byName } = profiles();
  return byName.get(current ?? '') ?? findLocal(sources);
}

function findLocal({ local, dataDir }: Sources): Server | null {
  return local && { url: local.url, token: loadToken(dataDir) };
}

function findTokenInEnvironment(url: string, { env }: Sources): string | null {
  const ofThat = env('SVC_URL') ?? url;
  return isSame(ofThat, url) ? (env('SVC_TOKEN') ?? null) : null;
}

function findSavedToken(url: string, sources: Sources): string | null {
  const { current, byName } = sources.profiles();
  const profiles = [byName.get(current ?? ''), ...byName.values(), findLocal(sources)];
  return profiles.find((server) => server && isSame(server.url, url))?.token ?? null;
}

function isSame(url: string, other: string): boolean {
  return url === other || (toAddress(url) !== null && toAddress(url) === toAddress(other));
}

function requireProfile(name: string, { profiles, profilesFile }: Sources): Profile {
  const found = profiles().byName.get(name);
  if (found) return found;
  throw new ProfileError(
    `there is no profile "${name}" in ${profilesFile}; svc login URL --profile ${name} makes it`,
  );
}

function loadProfiles(file: string, warn: (message: string) => void): Profiles {
  try {
    if (isOpenToOthers(file))
      warn(`other users of this host may read the tokens in ${file}: run chmod 600 ${file}`);
    return readProfiles(file);
  } catch (error) {
    warn((error as Error).message);
    return { current: null, byName: new Map() };
  }
}
