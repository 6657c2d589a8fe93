import path from 'node:path';
import type { Environment, JobUser } from '../core/runner.js';

export interface JobEnvInput {
  /** From the dispatch and from plugins: the job's own variables and its ingest token. */
  readonly given: Environment;
  readonly serverUrl: string;
  readonly nodeId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly runId: string | null;
  /** For CUDA_VISIBLE_DEVICES; empty: none. */
  readonly visibleDevices: string;
  readonly spoolDir: string;
}

/** What a job's processes are to have, wherever they run: defaults, then the job's own, then what the job must not choose. Without a GPU, CUDA_VISIBLE_DEVICES is empty: none. */
export function toJobEnv(input: JobEnvInput): Environment {
  return {
    PYTHONUNBUFFERED: '1',
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    ...input.given,
    CUDA_VISIBLE_DEVICES: input.visibleDevices,
    SVC_URL: input.serverUrl,
    SVC_CONSOLE_URL: input.serverUrl,
    SVC_NODE_ID: input.nodeId,
    SVC_JOB_ID: input.jobId,
    SVC_ATTEMPT: String(input.attempt),
    SVC_SPOOL_DIR: input.spoolDir,
    ...(input.runId === null ? {} : { SVC_RUN_ID: input.runId }),
  };
}

export interface HostEnvInput {
  /** The agent's own environment. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** The agent's token: whatever holds it stays out. */
  readonly agentToken: string;
  /** As whom it runs; null: as the agent does. */
  readonly user: JobUser | null;
  readonly workingDir: string;
}

/** The agent's own environment (without SVC_*, without what npm adds, without the agent's token); for another user with that one's home and name. */
export function toHostEnv({ inherited, agentToken, user, workingDir }: HostEnvInput): Environment {
  const isAgents = (name: string, value: string) =>
    /^(SVC_|npm_|OLDPWD$|_$)/.test(name) ||
    value.includes(agentToken) ||
    (user !== null && OF_SESSION.test(name));
  const kept = Object.entries(inherited).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isAgents(entry[0], entry[1]),
  );
  const ofUser = user === null ? {} : { HOME: user.home, USER: user.name, LOGNAME: user.name };
  return { ...Object.fromEntries(kept), ...ofUser, PWD: path.resolve(workingDir) };
}

/** Sockets, caches and the mailbox of the session in which the agent was started. */
const OF_SESSION = /^(XDG_|DBUS_|SSH_|SUDO_|MAIL$)/;
