import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { warnOnce } from './notices.js';

/** What the environment says: where the server is, which job this is, and the limits. */
export interface Settings {
  readonly mode: 'online' | 'offline' | 'disabled';
  /** null: no server was named, and none works on the local data directory. */
  readonly url: string | null;
  readonly token: string | null;
  readonly jobId: string | null;
  readonly runId: string | null;
  readonly attempt: number | null;
  /** Another rank than the first does not describe the run it attaches to. */
  readonly isSecondaryRank: boolean;
  readonly initTimeoutMs: number;
  readonly flushTimeoutMs: number;
  readonly queuePoints: number;
  readonly spoolDir: string | null;
  readonly spoolBytes: number;
}

const MODES = ['online', 'offline', 'disabled'] as const;

export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const text = (name: string) => env[name]?.trim() || null;
  const dataDir = env['SVC_DATA_DIR'] || path.join(os.homedir(), '.svc');
  const localUrl = localServer(dataDir);
  const url = text('SVC_URL')?.replace(/\/+$/, '') ?? localUrl;
  // The token file is the local server's: it must never travel to another program, be it on this host.
  const isLocal = url !== null && localUrl !== null && originOf(url) === originOf(localUrl);
  return {
    mode: toMode(text('SVC_MODE')),
    url,
    token: text('SVC_TOKEN') ?? (isLocal ? readText(path.join(dataDir, 'token')) : null),
    jobId: text('SVC_JOB_ID'),
    runId: text('SVC_RUN_ID'),
    attempt: toNumber(env, 'SVC_ATTEMPT', 0) || null,
    isSecondaryRank: (text('RANK') ?? '0') !== '0',
    initTimeoutMs: toNumber(env, 'SVC_INIT_TIMEOUT_S', 5) * 1000,
    flushTimeoutMs: toNumber(env, 'SVC_FLUSH_TIMEOUT_S', 10) * 1000,
    queuePoints: Math.max(1, Math.floor(toNumber(env, 'SVC_QUEUE_POINTS', 100_000))),
    spoolDir: text('SVC_SPOOL_DIR'),
    spoolBytes: toNumber(env, 'SVC_SPOOL_BYTES', 2 ** 30),
  };
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

/** The address of the server that works on the data directory now; null when there is none that lives. */
function localServer(dataDir: string): string | null {
  try {
    const server = JSON.parse(readFileSync(path.join(dataDir, 'server.json'), 'utf8')) as {
      url: string;
      pid: number;
      start_ticks: number;
    };
    return startTicksOf(server.pid) === server.start_ticks ? server.url.replace(/\/+$/, '') : null;
  } catch {
    return null;
  }
}

/** When the process started, in clock ticks since boot: a later process may have the same pid. */
function startTicksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
