import type { Connection } from '@svc/client';
import { findConnection } from '@svc/client/find-connection';
import { warnOnce } from './notices.js';
import { isSecondaryRank } from './ranks.js';

/** What the environment says: where the server is, which job this is, and the limits. */
export interface Settings {
  readonly mode: 'online' | 'offline' | 'disabled';
  /** null: no server was named that is known, and none works on the local data directory. */
  readonly server: Connection | null;
  /** For people: in a container that of `server` may be an address that only the job can use, and keeps secret. null: no server is known. */
  readonly consoleUrl: string | null;
  readonly jobId: string | null;
  readonly runId: string | null;
  readonly attempt: number | null;
  /** Another rank than the first does not describe the run it attaches to. */
  readonly isSecondaryRank: boolean;
  /** Other ranks report too. */
  readonly allRanks: boolean;
  readonly initTimeoutMs: number;
  readonly flushTimeoutMs: number;
  readonly queuePoints: number;
  readonly spoolDir: string | null;
  readonly spoolBytes: number;
  /** No link is printed. */
  readonly isQuiet: boolean;
}

const MODES = ['online', 'offline', 'disabled'] as const;

export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const text = (name: string) => env[name]?.trim() || null;
  const server = toServer(env);
  return {
    mode: toMode(text('SVC_MODE')),
    server,
    consoleUrl: text('SVC_CONSOLE_URL')?.replace(/\/+$/, '') ?? server?.url ?? null,
    jobId: text('SVC_JOB_ID'),
    runId: text('SVC_RUN_ID'),
    attempt: toNumber(env, 'SVC_ATTEMPT', 0) || null,
    isSecondaryRank: isSecondaryRank(env),
    allRanks: isSet(text('SVC_ALL_RANKS')),
    initTimeoutMs: toNumber(env, 'SVC_INIT_TIMEOUT_S', 5) * 1000,
    flushTimeoutMs: toNumber(env, 'SVC_FLUSH_TIMEOUT_S', 10) * 1000,
    queuePoints: Math.max(1, Math.floor(toNumber(env, 'SVC_QUEUE_POINTS', 100_000))),
    spoolDir: text('SVC_SPOOL_DIR'),
    spoolBytes: toNumber(env, 'SVC_SPOOL_BYTES', 2 ** 30),
    isQuiet: isSet(text('SVC_QUIET')),
  };
}

function isSet(text: string | null): boolean {
  return !['0', 'false', 'no'].includes((text ?? '0').toLowerCase());
}

function toServer(env: NodeJS.ProcessEnv): Connection | null {
  try {
    return findConnection({}, env, (message) => warnOnce('profiles', message));
  } catch (error) {
    warnOnce('SVC_PROFILE', (error as Error).message);
    return null;
  }
}

function toMode(text: string | null): Settings['mode'] {
  const mode = MODES.find((one) => one === (text ?? 'online').toLowerCase());
  if (mode === undefined)
    warnOnce('SVC_MODE', `SVC_MODE=${text} is not one of ${MODES.join(', ')}; using online`);
  return mode ?? 'online';
}

function toNumber(env: NodeJS.ProcessEnv, name: string, usual: number): number {
  const text = env[name]?.trim();
  const value = text ? Number(text) : usual;
  if (Number.isFinite(value) && value >= 0) return value;
  warnOnce(name, `${name}=${text} is not a number of at least 0; using ${usual}`);
  return usual;
}
