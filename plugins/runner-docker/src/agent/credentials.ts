import { isMissing } from '@svc/agent/durable-file';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { ImageName } from './image-name.js';

/** As the engine takes them with a pull. */
export type Credentials =
  | { readonly username: string; readonly password: string; readonly serveraddress: string }
  | { readonly identitytoken: string; readonly serveraddress: string };

/** What `docker login` and `podman login` write. */
interface LoginFile {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

const HELPER_MS = 30_000;
/** As this helper names an identity token. */
const TOKEN_USER = '<token>';

/** The credentials that the user of the agent has for a registry, from `docker login` or `podman login`; null: none. */
export async function findCredentials(
  image: ImageName,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Credentials | null> {
  for (const file of toLoginFiles(env)) {
    const found = await findIn(await loadLogins(file), image);
    if (found !== null) return found;
  }
  return null;
}

function toLoginFiles(env: Readonly<Record<string, string | undefined>>): string[] {
  const home = env['HOME'] ?? os.homedir();
  const { DOCKER_CONFIG = path.join(home, '.docker'), REGISTRY_AUTH_FILE, XDG_RUNTIME_DIR } = env;
  const podman = [
    REGISTRY_AUTH_FILE,
    XDG_RUNTIME_DIR && path.join(XDG_RUNTIME_DIR, 'containers', 'auth.json'),
    path.join(home, '.config', 'containers', 'auth.json'),
  ];
  return [
    path.join(DOCKER_CONFIG, 'config.json'),
    ...podman.filter((file) => file !== undefined && file !== ''),
  ] as string[];
}

async function loadLogins(file: string): Promise<LoginFile> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) ?? {}) as LoginFile;
  } catch (error) {
    if (isMissing(error)) return {};
    throw new Error(`${file}, which holds the credentials for registries, cannot be read`, { cause: error });
  }
}

async function findIn(
  { auths = {}, credHelpers = {}, credsStore }: LoginFile,
  { credentialsKey: key, registry }: ImageName,
): Promise<Credentials | null> {
  const helper = credHelpers[registry] ?? credHelpers[key] ?? credsStore;
  const helped = helper === undefined ? null : await askHelper(helper, key);
  if (helped !== null) return helped;
  const { auth, identitytoken } =
    [key, registry, `https://${registry}`].map((name) => auths[name]).find((entry) => entry) ?? {};
  if (identitytoken) return { identitytoken, serveraddress: key };
  if (!auth) return null;
  const [, username = '', password = ''] =
    /^([^:]*):([^]*)$/.exec(Buffer.from(auth, 'base64').toString()) ?? [];
  return { username, password, serveraddress: key };
}

/** Runs `docker-credential-NAME get`, which reads the registry and prints JSON. null: it has nothing for it. */
async function askHelper(helper: string, key: string): Promise<Credentials | null> {
  if (!/^[\w.-]+$/.test(helper)) throw new Error(`"${helper}" is no name of a credential helper`);
  const program = `docker-credential-${helper}`;
  const child = spawn(program, ['get'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), HELPER_MS);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new Error(`the credential helper ${program} cannot be run`, { cause: error })),
    );
    child.once('close', resolve);
  });
  child.stdin.on('error', () => {});
  child.stdin.end(key);
  const [output, code] = await Promise.all([text(child.stdout), ended]).finally(() => clearTimeout(timer));
  if (code !== 0) return null;
  const { Username: username = '', Secret: secret = '' } = JSON.parse(output) as {
    Username?: string;
    Secret?: string;
  };
  return username === TOKEN_USER
    ? { identitytoken: secret, serveraddress: key }
    : { username, password: secret, serveraddress: key };
}
