import { BootError } from '@svc/agent';
import path from 'node:path';
import { PULL_POLICIES, type PullPolicy } from '../pull-policy.js';

/** `runnerDocker({ ... })` in svc.agent.config.ts. */
export interface DockerAgentOptions {
  /** The engine's socket. Left out: that of DOCKER_HOST, else the first that there is of those of Docker and Podman. */
  readonly socket?: string;
  /** Jobs may mount what lies below these directories. Left out: nothing. */
  readonly allowedMounts?: readonly string[];
  /** Jobs may use these networks of the engine. Left out: bridge, host and none. */
  readonly allowedNetworks?: readonly string[];
  /** For jobs that do not say it. Left out: missing. */
  readonly pull?: PullPolicy;
  /** Jobs may choose any user, root included, also where the agent would choose it. Left out: false. */
  readonly allowAnyUser?: boolean;
}

/** Those of `DockerAgentOptions`, with their defaults; `socket` stays open. */
export interface DockerSettings {
  readonly socket: string | null;
  readonly allowedMounts: readonly string[];
  readonly allowedNetworks: readonly string[];
  readonly pull: PullPolicy;
  readonly allowAnyUser: boolean;
}

const NAMES = ['socket', 'allowedMounts', 'allowedNetworks', 'pull', 'allowAnyUser'];

/** Throws BootError. */
export function toSettings(options: DockerAgentOptions): DockerSettings {
  const refuse = (flaw: string) => {
    throw new BootError(`plugin "runner-docker", option ${flaw}`);
  };
  const {
    socket = null,
    allowedMounts = [],
    allowedNetworks = ['bridge', 'host', 'none'],
    pull = 'missing',
    allowAnyUser = false,
  } = options;
  for (const name of Object.keys(options))
    if (!NAMES.includes(name)) refuse(`${name}: there is no such option; there are ${NAMES.join(', ')}`);
  if (socket !== null && !path.isAbsolute(socket))
    refuse('socket: must be the path of a Unix socket, such as /run/docker.sock');
  if (!isListOfText(allowedMounts) || !allowedMounts.every((directory) => path.isAbsolute(directory)))
    refuse("allowedMounts: must be a list of absolute paths, such as ['/data']");
  if (!isListOfText(allowedNetworks))
    refuse("allowedNetworks: must be a list of networks, such as ['bridge', 'none']");
  if (!PULL_POLICIES.includes(pull)) refuse(`pull: must be one of ${PULL_POLICIES.join(', ')}`);
  if (typeof allowAnyUser !== 'boolean') refuse('allowAnyUser: must be true or false');
  return { socket, allowedMounts, allowedNetworks, pull, allowAnyUser };
}

function isListOfText(value: readonly unknown[]): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
