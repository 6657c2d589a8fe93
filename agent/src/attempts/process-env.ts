import path from 'node:path';
import type { JobUser } from '../core/runner.js';

export interface ProcessEnvInput {
  /** The agent's own environment. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** From the dispatch: the job's own variables and its ingest token. */
  readonly given: Readonly<Record<string, string>>;
  /** The agent's token: whatever holds it stays out. */
  readonly agentToken: string;
  /** As whom it runs; null: as the agent does. */
  readonly user: JobUser | null;
  readonly serverUrl: string;
  readonly nodeId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly runId: string | null;
  readonly gpuIndices: readonly number[];
  readonly workingDir: string;
  readonly spoolDir: string;
}

/**
 * The environment of a job's process: the agent's (without SVC_*, without what npm adds, without the agent's token; for another user with that one's home and name), then
 * defaults, then the job's own, then what the job must not choose. Without a GPU, CUDA_VISIBLE_DEVICES is empty: none.
 */
export function toProcessEnv(input: ProcessEnvInput): Record<string, string> {
  return {
    ...toInherited(input),
    ...toUserVariables(input.user),
    PWD: path.resolve(input.workingDir),
    PYTHONUNBUFFERED: '1',
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    // Or `setproctitle` writes over the environment, by which the processes of an attempt are known.
    SPT_NOENV: '1',
    ...input.given,
    CUDA_VISIBLE_DEVICES: input.gpuIndices.join(','),
    SVC_URL: input.serverUrl,
    SVC_NODE_ID: input.nodeId,
    SVC_JOB_ID: input.jobId,
    SVC_ATTEMPT: String(input.attempt),
    SVC_SPOOL_DIR: input.spoolDir,
    ...(input.runId === null ? {} : { SVC_RUN_ID: input.runId }),
  };
}

function toUserVariables(user: JobUser | null): Record<string, string> {
  return user === null ? {} : { HOME: user.home, USER: user.name, LOGNAME: user.name };
}

/** Sockets, caches and the mailbox of the session in which the agent was started. */
const OF_SESSION = /^(XDG_|DBUS_|SSH_|SUDO_|MAIL$)/;

function toInherited({ inherited, agentToken, user }: ProcessEnvInput): Record<string, string> {
  const isOwn = (name: string, value: string) =>
    /^(SVC_|npm_|OLDPWD$|_$)/.test(name) ||
    value.includes(agentToken) ||
    (user !== null && OF_SESSION.test(name));
  return Object.fromEntries(
    Object.entries(inherited).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && !isOwn(name, value);
    }),
  );
}
