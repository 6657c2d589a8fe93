import type { Stats } from 'node:fs';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { hostname, uptime } from 'node:os';
import { isWritten } from './open-files.js';
import { attemptKey } from './runner.js';

/** Processes that have ended and are still known, as the files that they named after themselves may be found later. */
const MAX_REMEMBERED = 10_000;
const TICKS_PER_S = 100;

/** A process of an attempt, by the variables that the agent gives each of them. */
interface AttemptProcess {
  /** The key of the attempt. */
  readonly owner: string;
  /** The host and the pid by which it knows itself: those of the container that it is in. */
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
}

/** The processes of attempts on this host, of those that this one may look into. None but on Linux. */
export class AttemptProcesses {
  readonly #living = new Map<string, AttemptProcess>();
  readonly #named = new Map<string, AttemptProcess>();

  /** Notes the processes there are now. */
  async look(): Promise<void> {
    const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
    const present = new Set(pids);
    for (const pid of this.#living.keys()) if (!present.has(pid)) this.#living.delete(pid);
    for (const pid of pids) if (!this.#living.has(pid)) await this.#meet(pid);
  }

  /**
   * The key of the attempt whose process calls itself by this pid on a host of this name, or did, and was there at that time (ms); null: none is known.
   */
  ownerOf(host: string, pid: number, at: number): string | null {
    const known = this.#named.get(nameOf(host, pid));
    return known !== undefined && known.startedAt <= at ? known.owner : null;
  }

  /** Calls back with the facts of each regular file that they have open for writing, and the key of the attempt. */
  async eachWritten(onFile: (stats: Stats, owner: string) => void): Promise<void> {
    for (const [pid, { owner }] of this.#living) {
      for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
        const place = `/proc/${pid}/fd/${descriptor}`;
        const target = await readlink(place).catch(() => '');
        if (!target.startsWith('/') || target.startsWith('/dev/')) continue;
        const stats = await stat(place).catch(() => null);
        if (stats?.isFile() && (await isWritten(pid, descriptor))) onFile(stats, owner);
      }
    }
  }

  async #meet(pid: string): Promise<void> {
    const variables = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    const job_id = variableIn(variables, 'SVC_JOB_ID');
    const attempt = variableIn(variables, 'SVC_ATTEMPT');
    const startedAt = job_id === undefined ? null : await startOf(pid);
    if (job_id === undefined || attempt === undefined || startedAt === null) return;
    const host = (await isOnThisHost(pid)) ? hostname() : (variableIn(variables, 'HOSTNAME') ?? '');
    const name = nameOf(host, await innerPid(pid));
    const met = { owner: attemptKey({ job_id, attempt: Number(attempt) }), name, startedAt };
    if (this.#named.size >= MAX_REMEMBERED) this.#named.clear();
    this.#living.set(pid, met);
    this.#named.set(name, met);
  }
}

function nameOf(host: string, pid: number): string {
  return `${host} ${pid}`;
}

function variableIn(variables: string, name: string): string | undefined {
  return new RegExp(`(?:^|\\0)${name}=([^\\0]+)`).exec(variables)?.[1];
}

/** As text of /proc says it, to a second. null: it has ended. */
async function startOf(pid: string): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (text === null) return null;
  // The name of the program, in parentheses, may hold anything. The start is the twentieth field behind it.
  const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
  return Date.now() - (uptime() - ticks / TICKS_PER_S) * 1000;
}

async function isOnThisHost(pid: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all(
    [pid, 'self'].map((each) => readlink(`/proc/${each}/ns/uts`).catch(() => '')),
  );
  return theirs === ours;
}

/** The pid in the innermost of its namespaces. */
async function innerPid(pid: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^NSpid:.*?(\d+)$/m.exec(text)?.[1] ?? pid);
}
