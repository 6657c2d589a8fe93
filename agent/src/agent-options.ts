import type { Labels } from '@svc/contract';
import type { SessionTiming } from './connection/session.js';
import type { AgentLog } from './core/log.js';
import type { AgentPlugin } from './core/plugin.js';

export interface AgentOptions {
  /** The server's address, http or https. */
  url: string;
  /** A token of agent or write scope. */
  token: string;
  plugins: readonly AgentPlugin[];
  /** Left out: the name of the last start, at first the host's. */
  name?: string | undefined;
  /** Left out: ~/.svc. Must hold: one agent at a time works on it. */
  stateDir?: string | undefined;
  /** The user as whom jobs run, for an agent that is root. Left out: as the agent does. */
  runAs?: string | undefined;
  labels?: Labels | undefined;
  /** Left out: the number of logical CPUs. */
  maxCpuJobs?: number | undefined;
  /** So many slots that stand for no device, in place of the host's GPUs. */
  virtualGpus?: number | undefined;
  /** Directories whose disks are measured too, such as that of the data sets. */
  disks?: readonly string[] | undefined;
  /** What the logs of all attempts may take on the disk. Left out: 1 GiB. */
  spoolMaxBytes?: number | undefined;
  /** What was logged without a connection is sent at so much at most. Left out: 32 MiB a second. */
  replayBytesPerS?: number | undefined;
  /** So long an attempt's files stay once the server has all of it. Left out: 7; 0: not at all. */
  keepAttemptsDays?: number | undefined;
  log?: AgentLog | undefined;
  timing?: Partial<SessionTiming> | undefined;
}

/** Throws TypeError. */
export function checkOptions({ url, token, spoolMaxBytes = 1, replayBytesPerS = 1 }: AgentOptions): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`"${url}" is not the address of a server`);
  if (spoolMaxBytes <= 0 || replayBytesPerS <= 0)
    throw new TypeError('the size of the log spool and the rate of its replay must be above 0');
  if (token === '') throw new TypeError('the agent needs a token of scope agent or write');
}
